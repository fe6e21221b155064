import { z } from 'zod';
import { areaId, areasOf } from '../../src/edge/http/openapi/areas.js';
import { type ApiDocuments, documentsOf } from '../../src/edge/http/openapi/documents.js';
import type { ApiDocument } from '../../src/edge/http/openapi/openapi.js';
import type { ListenerName } from '../../src/edge/http/openapi/refusals.js';
import type { SampleCaller } from '../../src/edge/http/openapi/sample_call.js';
import { SCOPE_TEXTS } from '../../src/edge/pages/scope_texts.js';
import { cachePage, sendCached, sendCachedPage } from '../../src/edge/reference/cached_page.js';
import { GUIDES } from '../../src/edge/reference/guide_names.js';
import { guidePage, guidesPage } from '../../src/edge/reference/guides.js';
import { GUIDES_PATH, guidePath, REFERENCE_PATHS } from '../../src/edge/reference/page_parts.js';
import {
  referenceArea,
  referenceIndex,
  referenceShapes,
  searchIndex,
} from '../../src/edge/reference/reference_page.js';
import { openRoute, type Route } from '../rows.js';

/** The reference, as documents for programs and as pages for people. Made of the tables of routes, when first asked for. */

const DOCUMENTS: Record<ListenerName, { path: string; summary: string }> = {
  public: { path: '/openapi.json', summary: 'The API of apps.' },
  device: { path: '/openapi/device.json', summary: 'What recording devices call.' },
  operator: { path: '/openapi/operator.json', summary: 'The operator port.' },
};

const documentShape = z.looseObject({ openapi: z.string().describe('The version of OpenAPI that it is written in.') });

/** The tables, with the rows that serve what is made of them: these are in it as well. */
export function withReference(tables: Record<ListenerName, readonly Route[]>): Record<ListenerName, readonly Route[]> {
  let documents: ApiDocuments | null = null;
  const made = () => {
    documents ??= documentsOf(all, scopeWords);
    return documents;
  };
  const of_apps = [...tables.public, documentRoute('public', made), documentRoute('device', made)];
  const all: Record<ListenerName, readonly Route[]> = {
    public: [
      ...of_apps,
      ...referenceRoutes('app', of_apps, () => made().public),
      ...referenceRoutes('device', tables.device, () => made().device),
      searchRoute(() => ({ app: made().public, device: made().device })),
      pageRoute(GUIDES_PATH, guidesPage),
      ...GUIDES.map(({ name }) => pageRoute(guidePath(name), (base_url) => guidePage(name, base_url))),
    ],
    device: tables.device,
    operator: [...tables.operator, documentRoute('operator', made)],
  };
  return all;
}

/** A page that leads on, one for each area, and one for the shapes. */
function referenceRoutes(caller: SampleCaller, rows: readonly Route[], document: () => ApiDocument): Route[] {
  const base = REFERENCE_PATHS[caller];
  return [
    pageRoute(base, () => referenceIndex(document(), caller)),
    pageRoute(`${base}/shapes`, () => referenceShapes(document(), caller)),
    ...areasOf(rows).map(({ name }) =>
      pageRoute(`${base}/${areaId(name)}`, () => referenceArea(document(), caller, areaId(name))),
    ),
  ];
}

/** Serves the index that the search on the pages uses. */
function searchRoute(documents: () => Record<SampleCaller, ApiDocument>): Route {
  const index = cachePage(() => JSON.stringify(searchIndex(documents())));
  return openRoute({
    method: 'GET',
    path: '/reference/search.json',
    credential: 'none',
    dialect: 'page',
    handler: async ({ services, request, reply }) =>
      sendCached({ request, reply }, index(services.addresses().base_url), 'application/json; charset=utf-8'),
  });
}

function scopeWords(scope: string): string {
  return (SCOPE_TEXTS[scope] ?? []).map(({ words }) => `${words}.`).join(' ');
}

function documentRoute(listener: ListenerName, made: () => ApiDocuments): Route {
  const { path, summary } = DOCUMENTS[listener];
  const text = cachePage(() => JSON.stringify(made()[listener]));
  return openRoute({
    method: 'GET',
    path,
    summary,
    credential: 'none',
    dialect: 'page',
    // Tools that run in a browser read it as well.
    cors: { origin: '*', methods: ['GET'] },
    answer: documentShape,
    handler: async ({ services, request, reply }) =>
      sendCached({ request, reply }, text(services.addresses().base_url), 'application/json; charset=utf-8'),
  });
}

function pageRoute(path: string, write: (base_url: string) => string): Route {
  const page = cachePage(write);
  return openRoute({
    method: 'GET',
    path,
    credential: 'none',
    dialect: 'page',
    handler: async ({ services, request, reply }) =>
      sendCachedPage({ request, reply }, page(services.addresses().base_url)),
  });
}
