/* SPDX-License-Identifier: Apache-2.0 */
/* Rectangle features of grey images; kfe_data_viola_jones in kfe.h applies them to a data set. */
#ifndef KFE_DATA_SET_VIOLA_JONES_H
#define KFE_DATA_SET_VIOLA_JONES_H

#include <stdint.h>

/* The largest side of an image; larger images have more features than fit in memory. */
enum { KFE_VIOLA_JONES_LARGEST = 4096 };

/* Features of an image of this size. */
int64_t kfe_i_viola_jones_count(int64_t width, int64_t height);

#endif
