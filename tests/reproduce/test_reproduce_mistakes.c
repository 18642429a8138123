/* SPDX-License-Identifier: Apache-2.0 */
/* Messages about plans with mistakes and about unknown names. */
#include "reproduce/src/plan.h"
#include "support/plan.h"
#include "support/support.h"

typedef struct mistake {
    const char *text, *message;
} mistake;

static const mistake mistakes[] = {
    {"{", "m.json:1"},
    {"[]", "m.json: the file must hold one JSON object"},
    {"{" HEAD "}", "the key \"columns\" is missing"},
    {"{" HEAD ", \"row\": []}", "unknown key \"row\"; the keys are title, "},
    {"{" HEAD ", \"columns\": [], \"rows\": [" SLABS "]}", "there are no columns"},
    {"{" HEAD ", \"columns\": [" KNN "], \"rows\": []}", "there are no rows"},
    {"{" HEAD ", \"columns\": [" KNN ", " KNN "], \"rows\": [" SLABS "]}", "column 2 (K): the name"},
    {"{" HEAD ", \"percent\": 1, \"columns\": [" KNN "], \"rows\": [" SLABS "]}",
     "\"percent\" takes true or false"},
    {"{" HEAD ", \"kind\": \"plot\", \"columns\": [" KNN "], \"rows\": [" SLABS "]}", "not 'plot'"},
    {"{" HEAD ", \"kind\": \"curve\", \"columns\": [" KNN "], \"rows\": [" SLABS "]}", "\"over\""},
    {"{" HEAD ", \"kind\": \"curve\", \"over\": {\"name\": \"s\", \"parameter\": \"gamma\", \"values\": [0], "
     "\"reciprocal\": true}, \"columns\": [" KNN "], \"rows\": [" SLABS "]}",
     "no reciprocal"},
    {"{" HEAD ", \"kind\": \"curve\", \"over\": {\"name\": \"s\", \"parameter\": \"gama\", \"values\": [1]}, "
     "\"columns\": [" KNN "], \"rows\": [" SLABS "]}",
     "gama"},
    {"{" HEAD ", \"metrics\": [\"acuracy\"], \"columns\": [" KNN "], \"rows\": [" SLABS "]}",
     "no metric 'acuracy'"},
    {"{" HEAD ", \"metrics\": [\"support-vectors\"], \"columns\": [" KNN "], \"rows\": [" SLABS "]}",
     "the first metric chooses settings"},
    {"{" HEAD ", \"protocol\": {\"fold\": 5}, \"columns\": [" KNN "], \"rows\": [" SLABS "]}", "fold"},
    {"{" HEAD ", \"quick\": {\"repeats\": 0}, \"columns\": [" KNN "], \"rows\": [" SLABS "]}", "repeats"},
    {"{" HEAD ", \"columns\": [{\"name\": \"K\", \"method\": \"kok\", \"learner\": \"knn\"}], "
     "\"rows\": [" SLABS "]}",
     "m.json: row S, column K: "},
    {"{" HEAD ", \"columns\": [{\"name\": \"K\", \"method\": \"koc\", \"kernel\": \"rfb\", \"learner\": "
     "\"knn\"}], \"rows\": [" SLABS "]}",
     "rfb"},
    {"{" HEAD ", \"columns\": [{\"name\": \"K\", \"method\": \"koc\", \"learner\": \"kn\"}], "
     "\"rows\": [" SLABS "]}",
     "kn"},
    {"{" HEAD ", \"columns\": [{\"name\": \"K\", \"method\": \"koc\"}], \"rows\": [" SLABS "]}",
     "give a \"learner\""},
    {"{" HEAD ", \"columns\": [{\"name\": \"K\", \"method\": \"koc\", \"learner\": \"knn\", \"grid\": "
     "[\"neighbours=1,2\"]}], \"rows\": [" SLABS "]}",
     "neighbours"},
    {"{" HEAD ", \"columns\": [" KNN "], \"rows\": [{\"name\": \"S\"}]}", "either \"data\" or \"generate\""},
    {"{" HEAD ", \"columns\": [" KNN "], \"rows\": [{\"name\": \"S\", \"generate\": \"slab\"}]}",
     "no generator 'slab'"},
    {"{" HEAD ", \"columns\": [" KNN "], \"rows\": [{\"name\": \"S\", \"generate\": \"slabs\", \"paper\": "
     "{\"L\": 1}}]}",
     "\"paper\" names 'L'"},
    {"{" HEAD ", \"columns\": [" KNN "], \"rows\": [{\"name\": \"S\", \"generate\": \"slabs\", \"paper\": "
     "{\"K\": {\"vaule\": 1}}}]}",
     "vaule"},
    {"{" HEAD ", \"columns\": [" KNN "], \"rows\": [{\"name\": \"S\", \"generate\": \"slabs\", \"columns\": "
     "{\"K\": {\"name\": \"M\"}}}]}",
     "row S, column K: unknown key \"name\""},
    {"{" HEAD ", \"columns\": [" KNN "], \"rows\": [{\"name\": \"S\", \"generate\": \"slabs\", \"options\": "
     "{\"per-class\": [1]}}]}",
     "\"options\" takes an object of strings"},
    {"{" HEAD ", \"columns\": [" KNN
     "], \"rows\": [{\"name\": \"S\", \"generate\": \"slabs\", \"rows\": 0}]}",
     "at least 1"},
    {"{" HEAD ", \"columns\": [" KNN
     "], \"rows\": [{\"name\": \"S\", \"generate\": \"slabs\", \"seed\": 1e300}]}",
     "\"seed\" is a whole number"},
    {"{" HEAD ", \"columns\": [" KNN
     "], \"rows\": [{\"name\": \"S\", \"generate\": \"slabs\", \"per-class\": 0}]}",
     "\"per-class\" is a number of rows"},
    {"{" HEAD ", \"columns\": [" KNN
     "], \"rows\": [{\"name\": \"S\", \"generate\": \"slabs\", \"classes\": {\"a\": 1}}]}",
     "\"a\" takes an array of names of classes"},
    {"{" HEAD ", \"kind\": \"time\", \"metrics\": [\"error\"], \"columns\": [" KNN "], \"rows\": [" SLABS
     "]}",
     "cannot be chosen for the kind time"},
    {"{" HEAD ", \"kind\": \"time\", \"columns\": [{\"name\": \"K\", \"method\": \"koc\", \"kernel\": "
     "\"rbf\", \"grid\": [\"gamma=1,2\"]}], \"rows\": [" SLABS "]}",
     "the kind time takes no \"grid\""},
    {"{" HEAD ", \"columns\": [" KNN
     "], \"rows\": [{\"name\": \"S\", \"generate\": \"slabs\", \"transform\": "
     "\"viola-jones 19\"}]}",
     "'viola-jones WxH'"},
    {"{" HEAD ", \"columns\": [" KNN "], \"rows\": [{\"name\": \"S\", \"generate\": \"slabs\", "
     "\"target-scale\": \"l2-rows\"}]}",
     "not 'l2-rows'"},
    {"{" HEAD ", \"kind\": \"roc\", \"over\": {\"name\": \"f\", \"values\": [2]}, \"columns\": [" KNN
     "], \"rows\": [" SLABS "]}",
     "false positive rates"},
    {PATH "[{" SMC "}], \"rows\": [" REAL "]}", "has a \"record\""},
    {PATH "[{" SMC ", \"record\": \"covariance\", \"grid\": [\"dim=1,2\"]}], \"rows\": [" REAL "]}",
     "the kind path takes no \"grid\""},
    {"{" HEAD ", \"columns\": [{" SMC ", \"learner\": \"ls\", \"record\": \"covariance\"}], \"rows\": [" REAL
     "]}",
     "only a column of a path"},
    {"{" HEAD ", \"kind\": \"path\", \"over\": {\"name\": \"k\", \"values\": [1.5]}, \"columns\": [{" SMC
     ", \"record\": \"covariance\"}], \"rows\": [" REAL "]}",
     "numbers of features"},
    {"{" HEAD ", \"kind\": \"path\", \"over\": {\"name\": \"k\", \"parameter\": \"dim\", \"values\": [1]}, "
     "\"columns\": [{" SMC ", \"record\": \"covariance\"}], \"rows\": [" REAL "]}",
     "a curve needs"},
};

static void test_mistakes_name_file_and_key(void **state)
{
    kfe_context *ctx = *state;

    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        rep_plan plan;
        const char *text = mistakes[i].text;
        assert_fails(ctx, KFE_EINPUT, mistakes[i].message,
                     rep_plan_parse(ctx, "m.json", text, strlen(text), &plan));
        assert_non_null(strstr(kfe_error_message(ctx), "m.json"));
        rep_plan_close(&plan);
    }
}

static void test_unknown_names(void **state)
{
    kfe_context *ctx = *state;
    const rep_settings settings = {0};
    rep_entry entry;
    char *out = NULL;

    assert_fails(ctx, KFE_EINVAL, "no table or figure '004-tabel1'",
                 rep_run(ctx, "004-tabel1", &settings, &out, NULL));
    assert_null(out);
    assert_fails(ctx, KFE_EIO, "no-such.json", rep_run(ctx, "no-such.json", &settings, &out, NULL));
    assert_int_equal(rep_entry_at(-1, &entry), 0);
    assert_null(entry.name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_mistakes_name_file_and_key),
        with_context(test_unknown_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
