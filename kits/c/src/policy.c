/* What an answer means for the device, as docs/devices.md has it. */
#include <string.h>

#include "internal.h"

#define ANY (-1)
#define SECOND_MS 1000u
#define RETRY_AFTER_S_MAX 86400 /* longer than that nobody waits */

/* The first row that fits counts. */
static const struct {
  int status;
  const char *code;   /* NULL: any */
  const char *reason; /* NULL: any */
  int call;           /* a spool_call_kind, or ANY */
  spool_action action;
} ROWS[] = {
    {0, NULL, NULL, ANY, SPOOL_ACT_RETRY},
    {200, NULL, NULL, ANY, SPOOL_ACT_DONE},
    {201, NULL, NULL, ANY, SPOOL_ACT_DONE},
    {400, NULL, NULL, SPOOL_CALL_UPLOAD, SPOOL_ACT_REPEAT}, /* the upload broke off */
    {400, NULL, NULL, SPOOL_CALL_STORE, SPOOL_ACT_SPLIT},
    {401, NULL, "expired", SPOOL_CALL_RENEW, SPOOL_ACT_STOP},
    {401, NULL, "expired", ANY, SPOOL_ACT_RENEW},
    {401, NULL, NULL, ANY, SPOOL_ACT_STOP},
    {403, "ACCOUNT_DELETED", NULL, ANY, SPOOL_ACT_KEEP},
    {403, "DEVICE_UNBOUND", NULL, SPOOL_CALL_SESSION_END, SPOOL_ACT_DONE}, /* it is over */
    {403, "DEVICE_UNBOUND", NULL, ANY, SPOOL_ACT_UNBOUND},
    {403, NULL, "superseded", ANY, SPOOL_ACT_STOP},
    {403, NULL, "revoked", ANY, SPOOL_ACT_STOP},
    {403, NULL, "unknown", ANY, SPOOL_ACT_STOP},
    {404, NULL, NULL, SPOOL_CALL_REGISTER, SPOOL_ACT_LET_GO},
    {404, NULL, NULL, SPOOL_CALL_STATUS, SPOOL_ACT_REGISTER},
    {404, NULL, NULL, SPOOL_CALL_INTENT, SPOOL_ACT_REGISTER},
    {404, NULL, NULL, SPOOL_CALL_END, SPOOL_ACT_REGISTER},
    {404, NULL, NULL, SPOOL_CALL_UPLOAD, SPOOL_ACT_ANNOUNCE},
    {404, NULL, NULL, SPOOL_CALL_STORE, SPOOL_ACT_SPLIT}, /* its refusal by itself says more */
    {408, NULL, NULL, SPOOL_CALL_STORE, SPOOL_ACT_SPLIT}, /* an upload may take longer */
    {408, NULL, NULL, ANY, SPOOL_ACT_RETRY},
    {410, NULL, NULL, SPOOL_CALL_UPLOAD, SPOOL_ACT_ANNOUNCE},
    {413, NULL, NULL, SPOOL_CALL_STORE, SPOOL_ACT_SPLIT},
    {415, NULL, NULL, SPOOL_CALL_STORE, SPOOL_ACT_SPLIT},
    {422, NULL, NULL, SPOOL_CALL_UPLOAD, SPOOL_ACT_REPEAT}, /* read again from storage */
    {429, NULL, NULL, ANY, SPOOL_ACT_RETRY},
};

static bool fits(const char *wanted, const char *said) {
  return wanted == NULL || strcmp(wanted, said) == 0;
}

spool_action spool_action_of(spool_call_kind call, const spool_refusal *answer) {
  for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
    if (ROWS[i].status != answer->status || (ROWS[i].call != ANY && ROWS[i].call != (int)call)) continue;
    if (fits(ROWS[i].code, answer->code) && fits(ROWS[i].reason, answer->reason)) return ROWS[i].action;
  }
  return answer->status >= 500 ? SPOOL_ACT_RETRY : SPOOL_ACT_SET_ASIDE;
}

uint32_t spool_wait_ms(uint32_t failures, int32_t retry_after_s, uint32_t first_ms, uint32_t max_ms, uint32_t random) {
  if (retry_after_s > 0) {
    const uint32_t s = (uint32_t)(retry_after_s < RETRY_AFTER_S_MAX ? retry_after_s : RETRY_AFTER_S_MAX);
    return s * SECOND_MS;
  }
  uint64_t wait = first_ms;
  for (uint32_t i = 1; i < failures && wait < max_ms; i++) wait *= 2;
  if (wait > max_ms) wait = max_ms;
  return (uint32_t)(wait / 2 + random % (wait / 2 + 1));
}
