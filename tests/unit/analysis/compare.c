/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing groups of runs.  Expected figures are those of SciPy 1.10 and of a NumPy program that
 * does what changes.h says, on the same inputs. */
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare/changes.h"
#include "analysis/compare/compared_calls.h"
#include "analysis/compare/distribution.h"
#include "analysis/compare/gate.h"
#include "base/bytes.h"
#include "base/memory.h"

static void assert_near(double found, double expected, double within)
{
    if (!(fabs(found - expected) <= within * (fabs(expected) > 1e-3 ? fabs(expected) : 1)))
        fail_msg("found %.12g, expected %.12g", found, expected);
}

/* scipy.special.digamma, polygamma(1, x), polygamma(2, x) */
static void polygamma_functions(void **state)
{
    static const double expected[][4] = {
        {0.3, -3.5025242222, 12.2453645461, -75.2725365887},
        {1, -0.577215664902, 1.64493406685, -2.40411380632},
        {4.5, 1.38887092636, 0.248725103039, -0.061556821321},
        {40, 3.67632737403, 0.0253151038413, -0.000640820271835},
    };
    (void)state;
    for (size_t i = 0; i < TV_COUNT(expected); i++) {
        assert_near(tv_digamma(expected[i][0]), expected[i][1], 1e-11);
        assert_near(tv_trigamma(expected[i][0]), expected[i][2], 1e-11);
        assert_near(tv_tetragamma(expected[i][0]), expected[i][3], 1e-11);
    }
    assert_near(tv_trigamma_inverse(0.05), 20.4958352392, 1e-11);
    assert_near(tv_trigamma_inverse(3), 0.675478105281, 1e-11);
}

/* scipy.stats.t.sf and isf */
static void student_distribution(void **state)
{
    (void)state;
    assert_near(tv_student_tail(0, 3), 0.5, 1e-12);
    assert_near(tv_student_tail(1.5, 2.5), 0.123918226543, 1e-11);
    assert_near(tv_student_tail(-2, 8), 0.959741881021, 1e-11);
    assert_near(tv_student_tail(12, 9.7), 1.94316495434e-07, 1e-11);
    assert_near(tv_student_tail(3, 1e12), 0.00134989803166, 1e-9);
    assert_near(tv_student_quantile(0.025, 4), 2.7764451052, 1e-10);
    assert_near(tv_student_quantile(0.025, 30.5), 2.04086944519, 1e-10);
    assert_near(tv_student_quantile(0.001, 8), 4.50079093373, 1e-10);
}

/* Eight rows, five runs a side; the first row is 10 % slower. */
#define ROWS 8
#define RUNS 10
static const double logs[ROWS * RUNS] = {
    8.396,  8.430,  8.392,  8.367,  8.362,  8.532,  8.500,  8.455,  8.484,  8.466,  //
    7.346,  7.350,  7.356,  7.331,  7.356,  7.370,  7.333,  7.341,  7.340,  7.343,  //
    9.518,  9.515,  9.506,  9.477,  9.494,  9.522,  9.515,  9.459,  9.498,  9.472,  //
    10.865, 10.867, 10.869, 10.832, 10.837, 10.869, 10.837, 10.819, 10.853, 10.822, //
    12.294, 12.316, 12.286, 12.235, 12.245, 12.318, 12.279, 12.216, 12.279, 12.228, //
    10.213, 10.219, 10.231, 10.207, 10.202, 10.220, 10.225, 10.196, 10.206, 10.217, //
    8.899,  8.928,  8.901,  8.863,  8.873,  8.944,  8.894,  8.843,  8.874,  8.867,  //
    8.447,  8.477,  8.433,  8.392,  8.397,  8.468,  8.437,  8.380,  8.429,  8.418,
};
static const uint8_t sides[RUNS] = {0, 0, 0, 0, 0, 1, 1, 1, 1, 1};
static const uint32_t sessions[RUNS] = {0};

static void moderated_t_and_p(void **state)
{
    static const double difference[] = {0.100781142,  -0.001380805, -0.006063743, -0.011641138,
                                        -0.006618726, -0.000509022, -0.004575982, 0.001080357};
    static const double t[] = {16.9916850, -0.2335534, -1.0410327, -1.9929700,
                               -1.1298612, -0.0868524, -0.7774247, 0.1821622};
    static const double discovered[] = {1.39316619e-40, 0.976214113, 0.976214113, 0.976214113,
                                        0.976214113,    0.976214113, 0.976214113, 0.976214113};
    static const double adjusted[] = {0.00396825397, 0.996031746, 0.996031746, 0.996031746,
                                      0.996031746,   0.996031746, 0.996031746, 0.984126984};
    static const uint32_t rows[ROWS] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct tv_run_matrix matrix = {ROWS, RUNS, logs, sides, sessions};
    struct tv_changes changes;
    double p[ROWS];
    (void)state;
    tv_changes_init(&changes, &matrix);
    for (size_t i = 0; i < ROWS; i++) {
        assert_near(changes.of[i].difference, difference[i], 1e-6);
        assert_near(changes.of[i].t, t[i], 1e-6);
        assert_near(changes.of[i].freedom, 208, 1e-9);
    }
    tv_changes_discover(&changes, rows, ROWS, TV_CHANGE_UP, p);
    for (size_t i = 0; i < ROWS; i++)
        assert_near(p[i], discovered[i], 1e-6);
    tv_changes_adjust(&changes, rows, ROWS, TV_CHANGE_UP, p);
    for (size_t i = 0; i < ROWS; i++)
        assert_near(p[i], adjusted[i], 1e-6);
    tv_changes_release(&changes);
}

/* The order of runs within a side does not matter. */
static void order_of_runs(void **state)
{
    double turned[ROWS * RUNS];
    struct tv_run_matrix matrix = {ROWS, RUNS, logs, sides, sessions};
    struct tv_changes first, second;
    (void)state;
    for (size_t row = 0; row < ROWS; row++)
        for (size_t run = 0; run < RUNS; run++)
            turned[row * RUNS + run] = logs[row * RUNS + (run < 5 ? 4 - run : 14 - run)];
    tv_changes_init(&first, &matrix);
    matrix.logs = turned;
    tv_changes_init(&second, &matrix);
    for (size_t row = 0; row < ROWS; row++)
        assert_near(first.of[row].t, second.of[row].t, 1e-9);
    tv_changes_release(&first);
    tv_changes_release(&second);
}

/* One run a side: a difference, and no test. */
static void one_run_a_side(void **state)
{
    static const double two[] = {1, 1.5, 2, 1.5};
    static const uint8_t one_each[] = {0, 1};
    static const uint32_t rows[] = {0, 1};
    struct tv_run_matrix matrix = {2, 2, two, one_each, sessions};
    struct tv_changes changes;
    double p[2];
    (void)state;
    tv_changes_init(&changes, &matrix);
    assert_near(changes.of[0].difference, 0.5, 1e-12);
    assert_near(changes.of[1].difference, -0.5, 1e-12);
    assert_true(changes.of[0].freedom == 0 && isinf(changes.of[0].high));
    tv_changes_adjust(&changes, rows, 2, TV_CHANGE_ANY, p);
    assert_true(p[0] == 1 && p[1] == 1);
    tv_changes_release(&changes);
}

/* scipy.stats.ttest_ind(equal_var=False), one-sided */
static void total_by_welch(void **state)
{
    static const double totals[] = {1, 1.1, 1.2, 1.05, 1.2, 1.3, 1.25};
    static const uint8_t is_new[] = {0, 0, 0, 0, 1, 1, 1};
    (void)state;
    struct tv_change change = tv_change_by_welch(totals, is_new, 7);
    assert_near(change.difference, 0.1625, 1e-9);
    assert_near(tv_change_p(&change, TV_CHANGE_UP), 0.0131891443172, 1e-9);
}

static void names_without_generated_numbers(void **state)
{
    static const char *const forms[][2] = {
        {"Lam$1", "Lam$#"},
        {"lambda$main$3", "lambda$main$#"},
        {"Foo$$Lambda$14/0x0000000800c03000", "Foo$$Lambda$#/0x#"},
        {"$Proxy0", "$Proxy#"},
        {"access$000", "access$#"},
        {"{closure#2}", "{closure##}"},
        {"copy.constprop.0", "copy"},
        {"copy.part.1.isra.0", "copy"},
        {"core::fmt::write::h0123456789abcdef", "core::fmt::write"},
        {"read64", "read64"},
        {"GET /user/4711", "GET /user/4711"},
    };
    struct tv_out out;
    (void)state;
    for (size_t i = 0; i < TV_COUNT(forms); i++) {
        tv_out_init_memory(&out);
        tv_run_names_normal(&out, tv_bytes_of(forms[i][0]), TV_NAMES_SIMILAR);
        tv_out_char(&out, '\0');
        assert_string_equal(out.buffer, forms[i][1]);
        tv_out_release(&out);
    }
    tv_out_init_memory(&out);
    tv_run_names_normal(&out, TV_BYTES("GET /user/4711/a1b2c3d4"), TV_NAMES_GROUPED);
    tv_out_char(&out, '\0');
    assert_string_equal(out.buffer, "GET /user/#/#");
    tv_out_release(&out);
}

static void rules_are_parsed(void **state)
{
    struct tv_gate_rule rule;
    struct tv_error err;
    (void)state;
    assert_int_equal(
        tv_gate_rule_parse(TV_BYTES("excl cpu(com.app.*) > +5% and p < 0.01 and share > 0.1%"),
                           &rule, &err),
        TV_OK);
    assert_int_equal(rule.figure, TV_GATE_EXCL);
    assert_int_equal(rule.clock, TV_GATE_CPU);
    assert_true(tv_bytes_equal(rule.pattern, TV_BYTES("com.app.*")));
    assert_true(rule.change.is_change && rule.change.is_relative);
    assert_near(rule.change.number, 0.05, 1e-12);
    assert_near(rule.p, 0.01, 1e-12);
    assert_near(rule.share.number, 0.001, 1e-12);
    assert_int_equal(
        tv_gate_rule_parse(TV_BYTES("mean(f(int)) > 16.7ms and runs >= 5"), &rule, &err), TV_OK);
    assert_true(tv_bytes_equal(rule.pattern, TV_BYTES("f(int)")));
    assert_false(rule.change.is_change);
    assert_near(rule.change.number, 16.7e6, 1e-9);
    assert_int_equal(rule.runs, 5);
    assert_int_equal(tv_gate_rule_parse(TV_BYTES("excl(class:com.app.* thread:\"a path:b\") > 1ms"),
                                        &rule, &err),
                     TV_OK);
    assert_true(rule.of_class && !rule.of_path);
    assert_true(tv_bytes_equal(rule.pattern, TV_BYTES("com.app.*")));
    assert_true(tv_bytes_equal(rule.thread, TV_BYTES("a path:b")));
    assert_int_equal(
        tv_gate_rule_parse(TV_BYTES("excl(thread:a b path:run (I)V;*;do it) > 1ms"), &rule, &err),
        TV_OK);
    assert_true(rule.of_path && !rule.of_class);
    assert_true(tv_bytes_equal(rule.pattern, TV_BYTES("run (I)V;*;do it")));
    assert_true(tv_bytes_equal(rule.thread, TV_BYTES("a b")));
}

static void wrong_rules_are_refused(void **state)
{
    static const char *const wrong[][2] = {
        {"", "character 1: expected excl"},
        {"slow(x) > 5%", "character 1: expected excl"},
        {"excl(x", "character 6: expected a closing )"},
        {"excl(x)", "character 8: expected a limit"},
        {"excl(x) > +", "character 12: expected a number"},
        {"excl(x) > +5% or p < 1", "character 15: expected \"and\""},
        {"excl(x) > +5% and p < 2", "expected p < and a number up to 0.5"},
        {"excl(x) > 5ms and p < 0.01", "a change such as"},
        {"sum total > +5%", "expected sum excl"},
        {"excl(a path:b) > 5ms", "character 6: expected at most one of NAME"},
        {"excl(thread:a thread:b) > 5ms", "character 6: expected at most one of NAME"},
        {"total(a) > 5ms", "character 7: expected no more than thread:NAME"},
        {"excl(class:) > 5ms", "character 6: expected at most one of NAME"},
    };
    (void)state;
    for (size_t i = 0; i < TV_COUNT(wrong); i++) {
        struct tv_gate_rule rule;
        struct tv_error err;
        assert_int_equal(tv_gate_rule_parse(tv_bytes_of(wrong[i][0]), &rule, &err), TV_ERR_USAGE);
        if (strstr(err.message, wrong[i][1]) == NULL)
            fail_msg("found \"%s\", expected \"%s\"", err.message, wrong[i][1]);
    }
}

/* A sequence whose values depend on the one before: x[i] = 1000 + y[i], y[i] = 0.9 y[i - 1] + e[i],
 * where e is from -50 to 50 by a linear congruential generator.  The figures were computed by the
 * definition in Python: the effective number of calls, and the width of the normal interval of the
 * change that it gives. */
#define EFFECTIVE_500 29.77832787652389
#define NORMAL_WIDTH_500 0.0766318

static void calls_in_a_row(double *values, size_t count)
{
    double y = 0;
    uint64_t state = 1;
    for (size_t i = 0; i < count; i++) {
        state = (state * 1103515245 + 12345) % (UINT64_C(1) << 31);
        y = 0.9 * y + 100.0 * (double)state / (double)(UINT64_C(1) << 31) - 50;
        values[i] = 1000 + y;
    }
}

static void calls_of_one_run_are_worth_less(void **state)
{
    double equal[] = {5, 5, 5, 5}, swing[] = {1, 3, 1, 3, 1, 3}, values[500];
    (void)state;
    assert_near(tv_call_noise_effective(equal, 4), 4, 1e-12);
    assert_near(tv_call_noise_effective(swing, 6), 6, 1e-12);
    calls_in_a_row(values, 500);
    assert_near(tv_call_noise_effective(values, 500), EFFECTIVE_500, 1e-9);
    /* The new side is 10 % slower; each side has the same noise. */
    tv_ns base[500], fresh[500];
    for (size_t i = 0; i < 500; i++) {
        base[i] = (tv_ns)(values[i] * 1000);
        fresh[i] = (tv_ns)(values[i] * 1100);
    }
    struct tv_call_noise noise;
    const tv_ns *const lengths[] = {base, fresh};
    tv_call_noise_of(lengths, (size_t[]){500, 500}, &noise);
    assert_near(noise.change, 0.1, 1e-5);
    assert_true(noise.low < 0.1 && noise.high > 0.1);
    /* The interval of a normal approximation, from the effective numbers: as wide within a third.
     */
    assert_true(fabs((noise.high - noise.low) / NORMAL_WIDTH_500 - 1) < 0.34);
    tv_call_noise_of(lengths, (size_t[]){500, 19}, &noise);
    assert_true(isnan(noise.low) && isnan(noise.change));
}

/* ---- How often it is wrong, and how often it finds a change ---- */

/* Noise as it was recorded on a quiet machine: a common factor that drifts (AR 0.5, 2 %), felt by
 * each row with a loading of 0 to 1.5; 1.2 % of its own, log-normal over rows; wild values; rows
 * with two speeds. */
struct noise {
    uint64_t state;
};

static double noise_uniform(struct noise *noise)
{
    uint64_t x = noise->state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double)((x ^ x >> 31) >> 11) * 0x1p-53;
}

static double noise_normal(struct noise *noise)
{
    double radius = sqrt(-2 * log(1 - noise_uniform(noise)));
    return radius * cos(6.283185307179586 * noise_uniform(noise));
}

static double noise_exponential(struct noise *noise)
{
    return -log(1 - noise_uniform(noise));
}

#define SIMULATED_ROWS 300
#define LOOKED_AT 50

/* Runs in the order in which they were recorded. */
struct layout {
    uint32_t runs;
    uint8_t sides[16];
};

static const struct layout five_in_turn = {10, {0, 1, 0, 1, 0, 1, 0, 1, 0, 1}};
static const struct layout three_with_history = {16,
                                                 {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 0, 1, 0, 1, 0, 1}};

static void simulate_runs(struct noise *noise, const struct layout *layout, double *values,
                          double effect)
{
    double common[16];
    for (uint32_t run = 0; run < layout->runs; run++)
        common[run] = run == 0 ? 0.02 * noise_normal(noise)
                               : 0.5 * common[run - 1] + 0.02 * sqrt(0.75) * noise_normal(noise);
    for (uint32_t run = 0; run < layout->runs; run++)
        common[run] += noise_uniform(noise) < 0.05 ? 0.15 * noise_exponential(noise) : 0;
    for (int row = 0; row < SIMULATED_ROWS; row++) {
        double loading = 1.5 * noise_uniform(noise);
        double own = 0.012 * exp(0.6 * noise_normal(noise));
        double second = noise_uniform(noise) < 0.05 ? 0.03 + 0.09 * noise_uniform(noise) : 0;
        for (uint32_t run = 0; run < layout->runs; run++) {
            double value = loading * common[run] + own * noise_normal(noise);
            value += noise_uniform(noise) < 0.01 ? 0.2 * noise_exponential(noise) : 0;
            value += noise_uniform(noise) < 0.5 ? second : 0;
            value += layout->sides[run] == TV_RUN_NEW && row == 0 ? log1p(effect) : 0;
            values[row * (int)layout->runs + (int)run] = value;
        }
    }
}

/* Return how many of `gates` gates "excl(50 rows) > +5% and p < 0.01" fire; with an effect, how
 * many for its row. */
static int count_fired(struct noise *noise, const struct layout *layout, int gates, double effect)
{
    static const uint32_t one_session[16] = {0};
    double *values = tv_alloc((size_t)SIMULATED_ROWS * layout->runs, sizeof *values), p[LOOKED_AT];
    uint32_t rows[LOOKED_AT];
    int fired = 0;
    for (uint32_t i = 0; i < LOOKED_AT; i++)
        rows[i] = i;
    for (int gate = 0; gate < gates; gate++) {
        simulate_runs(noise, layout, values, effect);
        struct tv_run_matrix matrix = {SIMULATED_ROWS, layout->runs, values, layout->sides,
                                       one_session};
        struct tv_changes changes;
        tv_changes_init(&changes, &matrix);
        tv_changes_adjust(&changes, rows, LOOKED_AT, TV_CHANGE_UP, p);
        bool hit = false;
        for (uint32_t i = 0; i < (effect > 0 ? 1 : LOOKED_AT); i++)
            hit = hit || (changes.of[i].difference > log1p(0.05) && p[i] < 0.01);
        fired += hit;
        tv_changes_release(&changes);
    }
    tv_free(values);
    return fired;
}

/* Return how many gates to simulate for each figure: `usual`, or what TRACEVIEW_GATES says, by
 * which tests/bench/gates asks for more than a test has time for. */
static int gates_to_simulate(int usual)
{
    const char *wanted = getenv("TRACEVIEW_GATES");
    if (!wanted)
        return usual;
    long gates = strtol(wanted, NULL, 10);
    assert_in_range(gates, 1, 1000000);
    return (int)gates;
}

static void assert_share(int fired, int gates, double least, double most)
{
    assert_true(fired >= least * gates);
    assert_true(fired <= most * gates);
}

/* The figures of docs/compare.md. */
static void rates_of_simulated_gates(void **state)
{
    (void)state;
    struct noise noise = {20261124};
    int same = gates_to_simulate(500), changed = gates_to_simulate(250);
    int equal = count_fired(&noise, &five_in_turn, same, 0);
    int ten = count_fired(&noise, &five_in_turn, changed, 0.10);
    int twenty = count_fired(&noise, &five_in_turn, changed, 0.20);
    print_message("# 5 + 5: %d of %d equal, %d of %d with +10 %%, %d of %d with +20 %%\n", equal,
                  same, ten, changed, twenty, changed);
    assert_share(equal, same, 0, 0.015);
    assert_share(ten, changed, 0.75, 1);
    assert_share(twenty, changed, 0.88, 1);
    equal = count_fired(&noise, &three_with_history, same, 0);
    ten = count_fired(&noise, &three_with_history, changed, 0.10);
    print_message("# 3 + 3 and 10 older: %d of %d equal, %d of %d with +10 %%\n", equal, same, ten,
                  changed);
    assert_share(equal, same, 0, 0.015);
    assert_share(ten, changed, 0.70, 1);
}

/* A change as large as --plan says can be shown is found in 8 of 10 cases, within 10 points, by a
 * test of one row at 0.01. */
static void plans_predict_what_is_found(void **state)
{
    static const uint32_t one_session[16] = {0};
    const struct layout *layout = &five_in_turn;
    double *values = tv_alloc((size_t)SIMULATED_ROWS * layout->runs, sizeof *values);
    struct tv_run_matrix matrix = {SIMULATED_ROWS, layout->runs, values, layout->sides,
                                   one_session};
    struct noise noise = {20261130};
    struct tv_changes changes;
    int found = 0, cases = 400;
    (void)state;
    for (int i = 0; i < cases; i++) {
        simulate_runs(&noise, layout, values, 0);
        tv_changes_init(&changes, &matrix);
        double change = tv_change_detectable(&changes, 0, 1, 5, 0.01);
        assert_int_equal(tv_change_runs_needed(&changes, 0, 1, change, 0.01), 5);
        assert_int_equal(tv_change_runs_needed(&changes, 0, 1, 0, 0.01), 0);
        tv_changes_release(&changes);
        for (uint32_t run = 0; run < layout->runs; run++)
            values[run] += layout->sides[run] == TV_RUN_NEW ? log1p(change) : 0;
        tv_changes_init(&changes, &matrix);
        found += tv_change_p(&changes.of[0], TV_CHANGE_UP) < 0.01;
        tv_changes_release(&changes);
    }
    print_message("# changes as planned: %d of %d found\n", found, cases);
    assert_share(found, cases, 0.7, 0.9);
    tv_free(values);
}

UNIT_TESTS(compare, cmocka_unit_test(polygamma_functions), cmocka_unit_test(student_distribution),
           cmocka_unit_test(moderated_t_and_p), cmocka_unit_test(order_of_runs),
           cmocka_unit_test(one_run_a_side), cmocka_unit_test(total_by_welch),
           cmocka_unit_test(names_without_generated_numbers), cmocka_unit_test(rules_are_parsed),
           cmocka_unit_test(wrong_rules_are_refused),
           cmocka_unit_test(calls_of_one_run_are_worth_less),
           cmocka_unit_test(rates_of_simulated_gates),
           cmocka_unit_test(plans_predict_what_is_found));
