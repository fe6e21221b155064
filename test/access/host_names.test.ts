import t from 'tap';
import { hasReadableLabels } from '../../src/access/host_names.js';

t.test('hosts whose labels can be read are the same under each Node', async (t) => {
  for (const host of ['h', 'h.example.', '127.0.0.1', '[::1]', 'a_b.example', 'xn.example', 'a-xn--b.example'])
    t.ok(hasReadableLabels(host), host);
  for (const host of [
    'xn--bcher-kva.example',
    'xn--fa-hia.de',
    'xn--ls8h.la',
    'xn--wgv71a119e',
    'xn--zca.xn--bcher-kva',
  ])
    t.ok(hasReadableLabels(host), host);
  for (const host of ['xn--a', 'xn--', 'h.xn--a.example', 'xn--bcher-kva.xn--a', 'xn--99999999', 'xn--pokxncvks'])
    t.notOk(hasReadableLabels(host), `${host} can't be read`);
  for (const host of ['xn--a-', 'xn--abc-.example', 'xn--xn---epa', 'xn--u-ccb'])
    t.notOk(hasReadableLabels(host), `${host} is no spelling of what it stands for`);
});
