import type { DeviceIdentity, Principal } from '../src/access/principal.js';
import { type Call as CallOf, type Route, rowOf } from '../src/edge/http/route.js';
import { type CallerOfTool as CallerOf, toolOf } from '../src/edge/mcp/tool.js';
import type { OperatorCaller } from '../src/edge/operations/operator_session.js';
import type { Services } from './services.js';

export type { Route };
export type Call<Who, Body, Query> = CallOf<Services, Who, Body, Query>;

/** Rows by who may call: their handlers get that caller, and all services. */
export const openRoute = rowOf<Services, null>();
export const accountRoute = rowOf<Services, Principal>();
export const deviceRoute = rowOf<Services, DeviceIdentity>();
export const operatorRoute = rowOf<Services, OperatorCaller>();

/** Who calls a tool. */
export type ToolCaller = CallerOf<Services>;

/** A tool of the MCP server. */
export const tool = toolOf<Services>();
