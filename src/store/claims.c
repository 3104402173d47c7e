/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claims.c - one writer for each upload.  There are as many claims as connections that write, so a
 * list will do.
 */
#include "store/inside.h"

#include <string.h>

/* With claim_lock held. */
static struct tv_store_claim **find(struct tv_store *store, const char *uid)
{
    struct tv_store_claim **link = &store->claims;
    while (*link && strcmp((*link)->uid.text, uid) != 0)
        link = &(*link)->next;
    return link;
}

/* The claim that is in the way, away from the file. */
static struct tv_store_claim **wait_for(struct tv_store *store, const char *uid)
{
    struct tv_store_claim **link = find(store, uid);
    while (*link && (*link)->can_be_taken && (*link)->inside) {
        pthread_cond_wait(&store->claim_change, &store->claim_lock);
        link = find(store, uid);
    }
    return link;
}

enum tv_store_status tv_store_claim_take(struct tv_store *store, struct tv_store_claim *claim,
                                         uint64_t *at, enum tv_store_status verdict)
{
    enum tv_store_status status = TV_STORE_OK;
    pthread_mutex_lock(&store->claim_lock);
    struct tv_store_claim **link = wait_for(store, claim->uid.text);
    struct tv_store_claim *other = *link;
    if (other && (!other->can_be_taken || verdict == TV_STORE_OK)) {
        status = TV_STORE_BUSY;
    } else if (other && at && *at != other->at) {
        *at = other->at;
        status = TV_STORE_OFFSET;
    } else if (other) {
        other->lost = verdict;
        *link = other->next;
    }
    if (status == TV_STORE_OK) {
        claim->inside = true;
        claim->next = store->claims;
        store->claims = claim;
    }
    pthread_mutex_unlock(&store->claim_lock);
    return status;
}

enum tv_store_status tv_store_claim_enter(struct tv_store *store, struct tv_store_claim *claim)
{
    pthread_mutex_lock(&store->claim_lock);
    enum tv_store_status lost = claim->lost;
    claim->inside = lost == TV_STORE_OK;
    pthread_mutex_unlock(&store->claim_lock);
    return lost;
}

void tv_store_claim_leave(struct tv_store *store, struct tv_store_claim *claim, uint64_t at)
{
    pthread_mutex_lock(&store->claim_lock);
    claim->inside = false;
    claim->at = at;
    pthread_cond_broadcast(&store->claim_change);
    pthread_mutex_unlock(&store->claim_lock);
}

void tv_store_claim_drop(struct tv_store *store, struct tv_store_claim *claim)
{
    pthread_mutex_lock(&store->claim_lock);
    struct tv_store_claim **link = &store->claims;
    while (*link && *link != claim)
        link = &(*link)->next;
    if (*link)
        *link = claim->next;
    pthread_cond_broadcast(&store->claim_change);
    pthread_mutex_unlock(&store->claim_lock);
}

bool tv_store_is_claimed(struct tv_store *store, const char *uid)
{
    pthread_mutex_lock(&store->claim_lock);
    bool claimed = *find(store, uid) != NULL;
    pthread_mutex_unlock(&store->claim_lock);
    return claimed;
}
