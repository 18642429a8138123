/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel columns at this process's rows of an operator whose points every process has; the pursuits use it. */
#include "gram/row_part.h"

#include "core/cluster.h"
#include "gram/form.h"

static kfe_status columns(const kfe_i_row_part *part, const int64_t *index, int64_t count, double *out)
{
    return kfe_i_gram_entries(part->state, kfe_i_consecutive(part->first, part->rows),
                              kfe_i_listed(index, count), out, count);
}

static kfe_status among(const kfe_i_row_part *part, const int64_t *index, int64_t count, double *out)
{
    return kfe_i_gram_among(part->state, index, count, out);
}

static kfe_status diagonal(const kfe_i_row_part *part, double *out)
{
    return kfe_i_gram_diagonal(part->state, out);
}

/* Functions of the user are called by one thread, so that they evaluate no tiles. */
static kfe_i_row_part part_of(const kfe_i_gram *gram, int64_t first, int64_t rows)
{
    kfe_i_row_part part = {.ctx = gram->ctx,
                           .first = first,
                           .rows = rows,
                           .total = gram->size,
                           .state = gram,
                           .columns = columns,
                           .among = among,
                           .diagonal = diagonal};

    if (kfe_i_gram_tiles(gram, &part.kernel, &part.points) && part.kernel->def->base == KFE_BASE_USER)
        part.kernel = NULL;
    return part;
}

kfe_i_row_part kfe_i_all_rows(const kfe_i_gram *gram)
{
    return part_of(gram, 0, gram->size);
}

kfe_i_row_part kfe_i_own_rows(const kfe_i_gram *gram)
{
    const kfe_i_gram *source = gram->form->row_source ? gram->form->row_source(gram) : NULL;
    kfe_i_share share = kfe_i_own_share(gram->ctx);

    if (!source || gram->size < share.parts)
        return kfe_i_all_rows(gram);
    int64_t first = kfe_i_share_begin(gram->size, share.part, share.parts);
    return part_of(source, first, kfe_i_share_begin(gram->size, share.part + 1, share.parts) - first);
}
