/* SPDX-License-Identifier: Apache-2.0 */
/* Name the views of a data set, and find a view by its name. */
#ifndef KFE_DATA_SET_VIEWS_H
#define KFE_DATA_SET_VIEWS_H

#include "core/text.h"
#include "data/data.h"

/* The longest name of a view in bytes, with its NUL; longer names are cut. */
enum { KFE_VIEW_NAME_SIZE = 256 };

/* Fails with KFE_EINVAL if two views have the same name. */
kfe_status kfe_i_views_check_names(kfe_context *ctx, const kfe_i_view *views, int count);
/* The view of that name, or -1. */
int kfe_i_views_find(const kfe_i_view *views, int count, const char *name);
/* Whether "a;b;c" lists the name. */
int kfe_i_view_is_listed(const char *list, const char *name);
/* Fails with "there is no view 'x' (did you mean y?); the views are y, z". */
kfe_status kfe_i_views_no_such(kfe_context *ctx, const kfe_i_view *views, int count, const char *name);

#endif
