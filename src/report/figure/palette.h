/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Choose the colour, marker and dash of a style, the same on paper and on the page. Colours are those of Okabe & Ito
 * (2008), which colour-blind people can tell apart; markers and dashes differ too, for readers of grey prints.
 */
#ifndef KFE_REPORT_FIGURE_PALETTE_H
#define KFE_REPORT_FIGURE_PALETTE_H

enum { KFE_COLOURS = 7, KFE_MARKERS = 8, KFE_DASHES = 4 };
#define KFE_GREY "#888888"

/* Every pair of colour and marker of 56 successive styles differs, since 7 and 8 have no common divisor. */
static inline const char *kfe_i_colour(int style)
{
    static const char *const colours[KFE_COLOURS] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                     "#E69F00", "#56B4E9", "#8C6BB1"};
    return style < 0 ? KFE_GREY : colours[style % KFE_COLOURS];
}

/* Colours of heat maps and shaded points, from low (0) to high (1): light to dark, so that grey prints keep the order. */
static inline void kfe_i_shade(double share, int rgb[3])
{
    static const int stops[5][3] = {
        {247, 251, 255}, {198, 219, 239}, {107, 174, 214}, {33, 113, 181}, {8, 48, 107}};
    double place = share <= 0 ? 0 : share >= 1 ? 4 : 4 * share;
    int k = place >= 4 ? 3 : (int)place;

    for (int c = 0; c < 3; c++)
        rgb[c] = (int)(stops[k][c] + (place - k) * (stops[k + 1][c] - stops[k][c]) + 0.5);
}

#endif
