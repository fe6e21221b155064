import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { parse } from 'yaml';
import { makeMetrics } from '../src/engine/metrics/metrics.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, 'deploy');
const read = (name: string) => readFileSync(join(root, name), 'utf8');

type Rule = { alert: string; expr: string; labels: { severity: string }; annotations: Record<string, string> };
type Panel = { id: number; type: string; title: string; targets?: { expr: string }[]; panels?: Panel[] };

/** Names that a scrape would show. */
async function scraped(): Promise<Set<string>> {
  const metrics = await makeMetrics().registry.getMetricsAsJSON();
  return new Set(
    metrics.flatMap(({ name, type }) =>
      String(type) === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  );
}

const namesIn = (expr: string) => expr.match(/\bspool_[a-z0-9_]+/g) ?? [];
/** By whole brackets and quotes: what Prometheus refuses most often. */
const isBalanced = (expr: string) => {
  const bare = expr.replaceAll(/"[^"]*"/g, '');
  return (
    [...'()[]{}'].reduce(
      (depth, bracket) => depth + bare.split(bracket).length * ('([{'.includes(bracket) ? 1 : -1),
      0,
    ) === 0 && !bare.includes('"')
  );
};

t.test('every metric that alerts and the dashboard ask for is one that we have', async (t) => {
  const names = await scraped();
  const { groups } = parse(read('deploy/alerts.yml')) as { groups: { rules: Rule[] }[] };
  const rules = groups.flatMap(({ rules }) => rules);
  const dashboard = JSON.parse(read('deploy/grafana/dashboards/spool.json')) as { uid: string; panels: Panel[] };
  const exprs = [
    ...rules.map(({ alert, expr }) => ({ where: alert, expr })),
    ...dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ where: title, expr }))),
  ];
  t.ok(exprs.length > 50);
  for (const { where, expr } of exprs) {
    t.same(
      namesIn(expr).filter((name) => !names.has(name)),
      [],
      where,
    );
    if (!isBalanced(expr)) t.fail(`${where}: ${expr}`);
  }
  t.same(
    rules.filter(({ expr }) => namesIn(expr).length === 0).map(({ alert }) => alert),
    ['SpoolDown'],
    'all others look at our metrics',
  );
  t.equal(new Set(dashboard.panels.map(({ id }) => id)).size, dashboard.panels.length);
});

t.test('every alert says how urgent it is, what it means and where to look', async (t) => {
  const { groups } = parse(read('deploy/alerts.yml')) as { groups: { rules: Rule[] }[] };
  const rules = groups.flatMap(({ rules }) => rules);
  for (const { alert, labels, annotations } of rules) {
    t.match(labels.severity, /^(page|ticket)$/, alert);
    t.match(annotations.summary, /^.{20,}\.$/, alert);
    t.ok((annotations.runbook?.length ?? 0) > 80, alert);
  }
  t.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length);
});

t.test('compose starts both with the files that are here', async (t) => {
  type Service = { profiles?: string[]; image?: string; volumes?: string[]; ports?: string[] };
  const { services } = parse(read('compose.yaml')) as { services: Record<string, Service> };
  for (const name of ['prometheus', 'grafana']) {
    const { profiles, image, volumes = [], ports = [] } = services[name] ?? {};
    t.same(profiles, ['monitoring']);
    t.match(image, /:v?\d+\.\d+\.\d+@/, 'a version of its own');
    for (const port of ports) t.match(port, /^127\.0\.0\.1:/);
    const own = volumes.flatMap((volume) => (volume.startsWith('./') ? [volume.split(':')[0] as string] : []));
    for (const path of own) t.ok(existsSync(join(root, path)), path);
    t.equal(own.length, 2);
  }
  const yaml = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.ya?ml$/.test(name));
  t.equal(yaml.length, 4);
  for (const name of yaml) t.type(parse(read(join('deploy', name))), 'object', name);
});
