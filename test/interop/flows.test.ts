import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { parse } from 'yaml';
import { TestAccount } from '../fixtures/account.js';
import { RunningCli } from '../fixtures/cli.js';
import { importFile } from '../fixtures/importing.js';
import { LocalProgram } from '../fixtures/listening.js';
import { TestSpool } from '../fixtures/spool.js';
import { tempFolder } from '../fixtures/temp_folder.js';
import { until } from '../fixtures/until.js';

/** The flows of the guide as n8n and Home Assistant run them: their requests, and the expressions in these. */

const GUIDE = readFileSync(new URL('../../../docs/flows.md', import.meta.url), 'utf8');
const block = (info: string) => new RegExp(`^\`\`\`${info}\\n(.*?)^\`\`\``, 'ms').exec(GUIDE)?.[1] ?? '';
const TALK = `WEBVTT

00:00:01.000 --> 00:00:04.000
<v Mira Holm>I will send the samples to the workshop on Friday.

00:00:05.000 --> 00:00:07.000
<v Tom>Good, the xylophone is in the cellar.
`;
const SENTENCES = ['I will send the samples to the workshop on Friday.', 'Good, the xylophone is in the cellar.'];

const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
t.teardown(() => spool.end());
const ann = await TestAccount.open(spool, 'ann@x.test');
const permissions = ['audio:read', 'turns:read', 'insights:read'];
const token = await ann.ask<{ value: string }>('POST', '/me/tokens', { name: 'Flows', permissions, expires_at: null });
/** Where events arrive, and where flows send what they make. */
const [program, target] = [await new LocalProgram().open(), await new LocalProgram().open()];
t.teardown(() => Promise.all([program.away(), target.away()]));

const commands = [...block('sh ignore').matchAll(/^spool (listen .*)$/gm)].map(([, words = '']) => words.split(' '));
const folder = tempFolder(t);
const listening = commands.map((words) => {
  const here = words.map((word) =>
    word
      .replace('https://spool.example', spool.base_url)
      .replace(/^(?=\w+\.position$)/, `${folder}/`)
      .replace(/^http:\/\/localhost:(5678|8123)/, new URL(program.url).origin),
  );
  const running = new RunningCli(here, { SPOOL_TOKEN: token.value });
  t.teardown(() => running.end());
  return running.says(/forwarding events of type/);
});
await Promise.all(listening);
const done = await importFile({ app: ann.app, base_url: spool.base_url }, Buffer.from(TALK), {
  ...{ name: 'Talk.vtt', captured_at: '2026-11-01T10:00:00.000Z' },
});

type Event = { type: string; resource: { id: string }; data: object };
/** The events that came to a path, once there are so many. */
async function eventsAt(path: string, count: number): Promise<Event[]> {
  const at = () => program.got.filter((one) => one.path === path);
  await until(`${count} events at ${path}`, () => at().length >= count);
  return at().map(({ body }) => JSON.parse(body) as Event);
}

type Node = { name: string; type: string; parameters: Record<string, unknown> };
type Workflow = { nodes: Node[]; connections: Record<string, { main: { node: string }[][] }> };
const workflow = (info: string) => JSON.parse(block(`json ${info}`)) as Workflow;
const pathOf = ({ nodes }: Workflow) => `/webhook/${nodes[0]?.parameters.path}`;

/** Runs a workflow of n8n with an event at its first node. */
async function runWorkflow({ nodes, connections }: Workflow, event: Event): Promise<void> {
  const items = new Map<string, unknown>();
  const runs = new Map<string, number>();
  let json: unknown = { body: event };
  let node = nodes[0] as Node;
  for (;;) {
    const $runIndex = runs.get(node.name) ?? 0;
    runs.set(node.name, $runIndex + 1);
    const known = { $json: json, $runIndex, $: (name: string) => ({ first: () => ({ json: items.get(name) }) }) };
    const is = (value: unknown) => evaluated(String(value), known);
    let output = 0;
    switch (node.type.replace('n8n-nodes-base.', '')) {
      case 'webhook':
        break;
      case 'filter':
        if (is(conditionOf(node)) !== true) return;
        break;
      case 'if':
        output = is(conditionOf(node)) === true ? 0 : 1;
        break;
      case 'wait':
        await delay(50);
        break;
      case 'httpRequest':
        json = await requested(node, is);
        break;
      default:
        throw new Error(`a node of the type ${node.type}`);
    }
    items.set(node.name, json);
    const next = connections[node.name]?.main[output]?.[0]?.node;
    if (next === undefined) return;
    node = nodes.find(({ name }) => name === next) as Node;
  }
}

function conditionOf({ parameters }: Node): unknown {
  return (parameters.conditions as { conditions: { leftValue: string }[] }).conditions[0]?.leftValue;
}

async function requested({ parameters }: Node, is: (value: unknown) => unknown): Promise<unknown> {
  const { url, method = 'GET', genericAuthType, contentType = 'json', rawContentType, jsonBody, body } = parameters;
  const here = String(is(url))
    .replace('https://spool.example', spool.base_url)
    .replace(/^https:\/\/(?:list|notes)\.example/, new URL(target.url).origin);
  const answer = await fetch(here, {
    method: String(method),
    headers: {
      ...(genericAuthType === 'httpBearerAuth' && { Authorization: `Bearer ${token.value}` }),
      ...(parameters.sendBody === true && {
        'Content-Type': String(contentType === 'json' ? 'application/json' : rawContentType),
      }),
    },
    ...(parameters.sendBody === true && { body: String(is(contentType === 'json' ? jsonBody : body)) }),
  });
  if (!answer.ok) throw new Error(`${here} answers ${answer.status}`);
  const text = await answer.text();
  return text === '' ? {} : JSON.parse(text);
}

/** A text of n8n is an expression if it begins with `=`. */
function evaluated(text: string, known: object): unknown {
  if (!text.startsWith('=')) return text;
  const [, alone] = /^=\{\{((?:(?!\}\}).)*)\}\}$/s.exec(text) ?? [];
  if (alone !== undefined) return runInNewContext(`(${alone})`, { ...known });
  return text
    .slice(1)
    .replace(/\{\{(.*?)\}\}/gs, (_, one: string) => String(runInNewContext(`(${one})`, { ...known })));
}

t.test('K-448 n8n puts a new task on a list', async (t) => {
  const flow = workflow('n8n-task');
  const events = await eventsAt(pathOf(flow), 1);
  for (const event of events) await runWorkflow(flow, event);
  const made = target.got.filter(({ path }) => path === '/tasks').map(({ body }) => JSON.parse(body));
  t.match(made, [{ title: /samples to the workshop/ }]);
  t.ok('due' in made[0]);
  const decision = await ann.ask<{ id: string }>('POST', '/suggestions', { text: 'It is green.', kind: 'decision' });
  const all = await eventsAt(pathOf(flow), events.length + 1);
  await runWorkflow(flow, all.find(({ resource }) => resource.id === decision.id) as Event);
  t.equal(target.got.filter(({ path }) => path === '/tasks').length, made.length, 'a decision is no task');
});

t.test('K-448 n8n writes a note of a recording that is over', async (t) => {
  const flow = workflow('n8n-recording');
  for (const event of await eventsAt(pathOf(flow), 1)) await runWorkflow(flow, event);
  const path = `/Recordings/${done.stream_id}.md`;
  t.match(
    target.got.filter((one) => one.path.startsWith('/Recordings')),
    [{ path, method: 'PUT', headers: { 'content-type': /^text\/markdown/ }, body: /^# .+\n\n.+\n\n- \[ \] .*samples/ }],
  );
  await ann.ask('PATCH', `/audio/streams/${done.stream_id}`, { title: 'Another' });
  const renamed = (await eventsAt(pathOf(flow), 2)).at(-1) as Event;
  await runWorkflow(flow, renamed);
  t.equal(target.got.filter((one) => one.path === path).length, 1, 'a new title writes no other');
});

type Action = { action?: string; data: Record<string, string>; response_variable?: string; value_template?: string };
type Configuration = {
  rest_command: Record<string, { url: string; headers: Record<string, string> }>;
  automation: { triggers: { webhook_id: string }[]; actions: Action[] }[];
};

t.test('K-448 Home Assistant sets an entity to each sentence', async (t) => {
  const secrets: Record<string, string> = { spool_token: `Bearer ${token.value}` };
  const customTags = [{ tag: '!secret', resolve: (name: string) => secrets[name] }];
  const { rest_command, automation } = parse(block('yaml'), { customTags }) as Configuration;
  const [{ triggers, actions } = { triggers: [], actions: [] }] = automation;
  const state: string[] = [];
  for (const event of await eventsAt(`/api/webhook/${triggers[0]?.webhook_id}`, 2)) {
    const known: Record<string, unknown> = { trigger: { json: event } };
    for (const { action, data, response_variable = '', value_template } of actions) {
      const given = Object.fromEntries(Object.entries(data ?? {}).map(([name, text]) => [name, rendered(text, known)]));
      const command = rest_command[action?.replace('rest_command.', '') ?? ''];
      if (value_template !== undefined && rendered(value_template, known) !== 'true') break;
      if (action === 'input_text.set_value') state.push(String(given.value));
      if (command === undefined) continue;
      const url = rendered(command.url, given).replace('https://spool.example', spool.base_url);
      const answer = await fetch(url, { headers: command.headers });
      known[response_variable] = { status: answer.status, content: await answer.json() };
    }
  }
  t.same(state.sort(), [...SENTENCES].sort());
});

/** A template of Home Assistant, of the few forms that the guide has. */
function rendered(text: string, known: object): string {
  return text.replace(/\{\{(.*?)\}\}/g, (_, one: string) =>
    String(runInNewContext(`(${one.replace(/\[:(\d+)\]/g, '.slice(0, $1)')})`, { ...known })),
  );
}
