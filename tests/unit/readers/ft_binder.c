/* SPDX-License-Identifier: Apache-2.0 */
/* Transactions of binder (ftrace.md section 3): slices on both sides and arrows between them. */
#include "ft_made.h"
#include "unit.h"

#define SENT(task, time, id, reply, flags)                                                         \
    task " [000] ...1 " time ": binder_transaction: transaction=" id                               \
         " dest_node=1 dest_proc=8 dest_thread=0 reply=" reply " flags=" flags " code=0x1\n"
#define RECEIVED(task, time, id)                                                                   \
    task " [001] ...1 " time ": binder_transaction_received: transaction=" id "\n"

/* a asks b, b asks c before it answers. */
static void waits_for_the_answer(void **context)
{
    (void)context;
    means(SENT("a-7", "1.000000", "1", "0", "0x10") RECEIVED("b-8", "1.000002", "1")
              SENT("b-8", "1.000003", "2", "0", "0x10") RECEIVED("c-9", "1.000004", "2")
                  SENT("c-9", "1.000006", "3", "1", "0x0") RECEIVED("b-8", "1.000007", "3")
                      SENT("b-8", "1.000008", "4", "1", "0x0") RECEIVED("a-7", "1.000009", "4"),
          "thread a\n  binder transaction 0+9\n"
          "thread b\n  binder reply 2+6\n   binder transaction 3+4\n"
          "thread c\n  binder reply 4+2\n"
          "flow 1 a 0@0 b 2@2\n"
          "flow 2 b 3@3 c 4@4\n"
          "flow 3 c 4@6 b 3@7\n"
          "flow 4 b 2@8 a 0@9\n");
}

/* Nobody waits for one-way transactions: slices of 30 us, cut where the thread continues. */
static void sends_one_way(void **context)
{
    (void)context;
    means(SENT("a-7", "1.000000", "1", "0", "0x11") SENT("a-7", "1.000005", "2", "0", "0x1")
              RECEIVED("b-8", "1.000006", "1") "a-7 [000] .... 1.000100: ev: x\n",
          "thread a\n  binder transaction async 0+5 binder transaction async 5+30\n"
          "thread b\n  binder Async recv 6+30\n"
          "instant ev of a 100\n"
          "flow 1 a 0@0 b 6@6\n");
}

static void ends_what_failed(void **context)
{
    (void)context;
    means(SENT("a-7", "1.000000", "1", "0",
               "0x0") "a-7 [000] ...1 1.000004: binder_return: cmd=0x7211 BR_FAILED_REPLY\n",
          "thread a\n  binder transaction 0+4\n"
          "instant binder_return of a 4\n");
}

/* Transactions that were sent before the trace, or never answered in it. */
static void knows_half_transactions(void **context)
{
    (void)context;
    means(RECEIVED("b-8", "1.000000", "1") SENT("a-7", "1.000002", "2", "0", "0x0")
              SENT("c-9", "1.000004", "3", "1", "0x0") "c-9 [000] .... 1.000009: ev: x\n",
          "thread a\n  binder transaction 2+7 open\n"
          "instant binder_transaction_received of b 0\n"
          "instant ev of c 9\n"
          "! open-call 1\n");
}

static void holds_locks(void **context)
{
    (void)context;
    means("a-7 [000] ...1 1.000000: binder_lock: tag=binder_ioctl\n"
          "a-7 [000] ...1 1.000003: binder_locked: tag=binder_ioctl\n"
          "a-7 [000] ...1 1.000008: binder_unlock: tag=binder_ioctl\n",
          "thread a\n  binder lock waiting 0+3 binder lock held 3+5\n");
}

UNIT_TESTS(ft_binder, cmocka_unit_test(waits_for_the_answer), cmocka_unit_test(sends_one_way),
           cmocka_unit_test(ends_what_failed), cmocka_unit_test(knows_half_transactions),
           cmocka_unit_test(holds_locks));
