/* SPDX-License-Identifier: Apache-2.0 */
/*
 * routes.c - every address of the server; docs/openapi.json describes them.
 */
#include "hub/handlers.h"
#include "hub/route.h"

const struct tv_route tv_routes[] = {
    {TV_HTTP_GET, "/", TV_RIGHT_NONE, tv_hub_front_page, NULL},
    {TV_HTTP_GET, "/t/ID/", TV_RIGHT_NONE, tv_hub_front_page, NULL},
    {TV_HTTP_GET, "/t/ID", TV_RIGHT_NONE, tv_hub_to_folder, NULL},
    {TV_HTTP_GET, "/t/ID/view", TV_RIGHT_NONE, tv_hub_to_folder, NULL},
    {TV_HTTP_GET, "/t/ID/view/", TV_RIGHT_READ, tv_hub_view_page, NULL},
    {TV_HTTP_GET, "/t/ID/view/api/REST", TV_RIGHT_READ, tv_hub_view_question, NULL},
    {TV_HTTP_GET, "/t/ID/file", TV_RIGHT_READ, tv_hub_original, NULL},
    {TV_HTTP_GET, "/t/ID/flamegraph.svg", TV_RIGHT_READ, tv_hub_flamegraph, NULL},
    {TV_HTTP_GET, "/t/ID/collapsed.txt", TV_RIGHT_READ, tv_hub_collapsed, NULL},
    {TV_HTTP_GET, "/t/ID/report.html", TV_RIGHT_READ, tv_hub_report, NULL},
    {TV_HTTP_PUT, "/", TV_RIGHT_CHANGE, tv_hub_put, tv_hub_put_begin},
    {TV_HTTP_PUT, "/NAME", TV_RIGHT_CHANGE, tv_hub_put, tv_hub_put_begin},
    {TV_HTTP_OPTIONS, "/api/uploads", TV_RIGHT_NONE, tv_hub_upload_options, NULL},
    {TV_HTTP_POST, "/api/uploads", TV_RIGHT_CHANGE, tv_hub_upload_new, NULL},
    {TV_HTTP_HEAD, "/api/uploads/ID", TV_RIGHT_CHANGE, tv_hub_upload_head, NULL},
    {TV_HTTP_PATCH, "/api/uploads/ID", TV_RIGHT_CHANGE, tv_hub_upload_patch,
     tv_hub_upload_patch_begin},
    {TV_HTTP_DELETE, "/api/uploads/ID", TV_RIGHT_CHANGE, tv_hub_upload_delete, NULL},
    {TV_HTTP_GET, "/api/hub", TV_RIGHT_NONE, tv_hub_describe, NULL},
    {TV_HTTP_GET, "/api/traces", TV_RIGHT_LIST, tv_hub_list, NULL},
    {TV_HTTP_GET, "/api/traces/ID", TV_RIGHT_READ, tv_hub_trace, NULL},
    {TV_HTTP_PATCH, "/api/traces/ID", TV_RIGHT_CHANGE, tv_hub_change, tv_hub_change_begin},
    {TV_HTTP_DELETE, "/api/traces/ID", TV_RIGHT_CHANGE, tv_hub_delete, NULL},
    {TV_HTTP_POST, "/api/traces/ID/read", TV_RIGHT_CHANGE, tv_hub_read_again, NULL},
    {TV_HTTP_POST, "/login", TV_RIGHT_NONE, tv_hub_login, tv_hub_login_begin},
    {TV_HTTP_POST, "/logout", TV_RIGHT_NONE, tv_hub_logout, NULL},
    {TV_HTTP_GET, "/healthz", TV_RIGHT_NONE, tv_hub_health, NULL},
    {TV_HTTP_GET, "/metrics", TV_RIGHT_LIST, tv_hub_metrics, NULL},
    {TV_HTTP_GET, "/openapi.json", TV_RIGHT_NONE, tv_hub_openapi, NULL},
    {TV_HTTP_OTHER, NULL, TV_RIGHT_NONE, NULL, NULL},
};
