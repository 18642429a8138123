/* SPDX-License-Identifier: Apache-2.0 */
/* The guide "which method?": methods by goal. `kfe methods` prints it, and docs/which-method.md shows it; a test
 * compares the two and checks every row against the flags of the methods it names. */
#include "kfe.h"

static const kfe_guide_row rows[] = {
    {"features of few samples with many columns (genes, spectra), linear and easy to explain", "pls",
     "cr to move between least squares and principal components; blf when outliers matter (loss=lad)",
     KFE_HAS_SUPERVISION | KFE_HAS_REGRESSION},
    {"classes of spectra or genes, with probabilities, linear", "plsda",
     "splsda when few columns should matter; class-rule=threshold when classes have very different sizes",
     KFE_HAS_PREDICTOR | KFE_HAS_PROBABILITIES},
    {"the same with a kernel", "kfd",
     "hsic, uhsic when the target is a number or has a kernel of its own; kpls for more features than "
     "classes",
     KFE_HAS_SUPERVISION | KFE_HAS_KERNELS},
    {"features of classes with a nonlinear boundary", "koc",
     "kda-qr to weigh the spread within the classes; hsic, skfe for dependence on the labels",
     KFE_HAS_SUPERVISION | KFE_HAS_KERNELS},
    {"a plot of the classes", "kfd, c - 1 features", "koc, c features; skfe for sparse text",
     KFE_HAS_SUPERVISION},
    {"to predict a number", "pls, kpls",
     "kopls when the features must be uncorrelated; kblf for another loss", KFE_HAS_REGRESSION},
    {"the best prediction of a table where some columns matter more than others", "rfm",
     "svm-joint for classes", KFE_HAS_PREDICTOR | KFE_HAS_REGRESSION},
    {"a few linear directions that a target depends on in a nonlinear way", "gkdr", "rfm with directions",
     KFE_HAS_SUPERVISION | KFE_HAS_REGRESSION},
    {"features of classes that consist of several clusters", "lfda, klfda", "rfm", KFE_HAS_SUPERVISION},
    {"to separate what predicts from systematic variation that does not (spectra, instruments)", "opls",
     "kopls2 with a kernel", KFE_HAS_SUPERVISION | KFE_HAS_REGRESSION},
    {"components of data without labels", "pca, kpca",
     "skfa when a projection must cost a few kernel evaluations", 0},
    {"a model for a million rows", "sma",
     "smc for covariance instead of alignment; rkopls with random support examples", KFE_HAS_KERNELS},
    {"fast projections of new data", "sma, smc, skfa", "akda-qr: as many kernel evaluations as classes",
     KFE_HAS_KERNELS},
    {"features and an SVM that fit each other", "svm-joint",
     "usvm-joint for uncorrelated features; slmc for an SVM on a few learned points", KFE_HAS_PREDICTOR},
    {"weights for several kernels or views", "mkl", "hsic-mkl for features, svm-mkl for features and SVMs",
     KFE_HAS_WEIGHTS | KFE_HAS_MULTIVIEW},
    {"to know which view to trust, and where", "sldr", "lmkl when the views should not be projected",
     KFE_HAS_WEIGHTS | KFE_HAS_MULTIVIEW},
    {"what several views of the same examples have in common, without labels", "kcca",
     "kgcca for features that every view explains as well as possible", KFE_HAS_KERNELS | KFE_HAS_MULTIVIEW},
    {"classes or numbers from several tables of the same samples (omics), linear", "block-splsda, mbpls",
     "kcca without labels; mkl with kernels", KFE_HAS_MULTIVIEW | KFE_HAS_SUPERVISION},
    {"sparse text with many terms", "oc, pls", "skfe, kda-qr, sma with a kernel; the data stays sparse",
     KFE_HAS_SPARSE},
    {"features of strings", "any method that takes kernels, with kernel spectrum", "", 0},
    {"an SVM, k-nearest neighbours or least squares on the data itself", "none, with a learner", "", 0},
};

const kfe_guide_row *kfe_guide(int index)
{
    return index >= 0 && (size_t)index < sizeof rows / sizeof *rows ? &rows[index] : NULL;
}
