/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inner loop of products with a few vectors. strip.c includes this file once for each kind of register and number, after it has
 * defined
 *
 *     STRIP          the name of the function that is made
 *     STRIP_TARGET   the instructions that it may use
 *     STRIP_NUMBER   double or float: the type of vectors and sums
 *     STRIP_VECTOR   a register of such numbers
 *
 * Vectors come in groups of one or two registers: number l of row i of a group is number i·width + l. More of them would not stay in
 * the sixteen registers of AVX2, and compilers then pass every number through memory.
 */
#define STRIP_JOIN(a, b) a##b
#define STRIP_PART(a, b) STRIP_JOIN(a, b)
#define STRIP_ROWS_OF STRIP_PART(STRIP, _rows)
#define STRIP_ENTRIES STRIP_PART(STRIP, _entries)
#define STRIP_SHAPE STRIP_PART(STRIP, _shape)

/* `count` ≤ ROWS rows of entries against one group of vectors. */
KFE_BODY void STRIP_ROWS_OF(int count, int registers, int mirrored, const kfe_i_strip *s,
                            const STRIP_NUMBER *entries, int64_t stride, int64_t row)
{
    enum { LANES = (int)(sizeof(STRIP_VECTOR) / sizeof(STRIP_NUMBER)) };
    int width = LANES * registers;
    int second = registers > 1 ? LANES : 0; /* where the second register begins, if there is one */
    const STRIP_NUMBER *v = s->v;
    const STRIP_NUMBER *own_v = mirrored ? (const STRIP_NUMBER *)s->own_v + row * width : NULL;
    STRIP_NUMBER *out = s->out;
    STRIP_NUMBER *own_out = (STRIP_NUMBER *)s->own_out + row * width;
    STRIP_VECTOR sums[ROWS][2];
    STRIP_VECTOR own[ROWS][2];

    for (int r = 0; r < count; r++)
        for (int h = 0; h < registers; h++) {
            sums[r][h] = *(const STRIP_VECTOR *)(own_out + r * width + LANES * h);
            if (mirrored)
                own[r][h] = *(const STRIP_VECTOR *)(own_v + r * width + LANES * h);
        }
    for (int64_t j = 0; j < s->cols; j++) {
        STRIP_VECTOR v0 = *(const STRIP_VECTOR *)(v + j * width);
        STRIP_VECTOR v1 = *(const STRIP_VECTOR *)(v + j * width + second);
        STRIP_VECTOR out0 = mirrored ? *(const STRIP_VECTOR *)(out + j * width) : v0;
        STRIP_VECTOR out1 = mirrored ? *(const STRIP_VECTOR *)(out + j * width + second) : v1;
        for (int r = 0; r < count; r++) {
            STRIP_NUMBER entry = entries[r * stride + j];
            sums[r][0] += entry * v0;
            if (second)
                sums[r][1] += entry * v1;
            if (mirrored)
                out0 += entry * own[r][0];
            if (mirrored && second)
                out1 += entry * own[r][1];
        }
        if (mirrored)
            *(STRIP_VECTOR *)(out + j * width) = out0;
        if (mirrored && second)
            *(STRIP_VECTOR *)(out + j * width + second) = out1;
    }
    for (int r = 0; r < count; r++)
        for (int h = 0; h < registers; h++)
            *(STRIP_VECTOR *)(own_out + r * width + LANES * h) = sums[r][h];
}

/* The entries of some rows as the numbers that are multiplied: where they are, or converted into `room`. */
KFE_BODY const STRIP_NUMBER *STRIP_ENTRIES(const kfe_i_strip *s, int64_t row, int count, STRIP_NUMBER *room,
                                           int64_t *stride)
{
    int is_double = sizeof(STRIP_NUMBER) == sizeof(double);

    *stride = s->stride;
    if (is_double && s->wide)
        return (const STRIP_NUMBER *)(const void *)(s->wide + row * s->stride);
    if (!is_double && s->narrow)
        return (const STRIP_NUMBER *)(const void *)(s->narrow + row * s->stride);
    *stride = KFE_STRIP_COLS;
    for (int r = 0; r < count; r++)
        for (int64_t j = 0; j < s->cols; j++)
            room[r * KFE_STRIP_COLS + j] = s->wide ? (STRIP_NUMBER)s->wide[(row + r) * s->stride + j]
                                                   : (STRIP_NUMBER)s->narrow[(row + r) * s->stride + j];
    return room;
}

KFE_BODY void STRIP_SHAPE(int registers, int mirrored, const kfe_i_strip *s)
{
    STRIP_NUMBER room[ROWS * KFE_STRIP_COLS];
    int64_t stride = 0;
    int64_t row = 0;

    for (; row + ROWS <= s->rows; row += ROWS) {
        const STRIP_NUMBER *entries = STRIP_ENTRIES(s, row, ROWS, room, &stride);
        STRIP_ROWS_OF(ROWS, registers, mirrored, s, entries, stride, row);
    }
    for (; row < s->rows; row++) {
        const STRIP_NUMBER *entries = STRIP_ENTRIES(s, row, 1, room, &stride);
        STRIP_ROWS_OF(1, registers, mirrored, s, entries, stride, row);
    }
}

STRIP_TARGET static void STRIP(int registers, int mirrored, const kfe_i_strip *s)
{
    if (registers == 1 && mirrored)
        STRIP_SHAPE(1, 1, s);
    else if (registers == 1)
        STRIP_SHAPE(1, 0, s);
    else if (mirrored)
        STRIP_SHAPE(2, 1, s);
    else
        STRIP_SHAPE(2, 0, s);
}

#undef STRIP_JOIN
#undef STRIP_PART
#undef STRIP_ROWS_OF
#undef STRIP_ENTRIES
#undef STRIP_SHAPE
#undef STRIP
#undef STRIP_TARGET
#undef STRIP_NUMBER
#undef STRIP_VECTOR
