import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { tempFolder } from '../fixtures/temp_folder.js';

/* The device kit in C as a component of ESP-IDF: what its build files say, held against its sources. */

const KIT = new URL('../../../kits/c', import.meta.url).pathname;
/** Components by the headers that they bring. */
const COMPONENTS: Record<string, RegExp> = { mbedtls: /^(mbedtls|psa)\//, cbor: /^cbor\.h$/ };
const C99 = ['stdbool.h', 'stddef.h', 'stdint.h', 'stdio.h', 'string.h'];
const cmake_is_there = spawnSync('cmake', ['--version']).error === undefined;

/** What `idf_component_register` is called with, by its keywords. */
function registered(folder: string): Map<string, string[]> {
  const script = join(folder, 'look.cmake');
  const text = `set(ESP_PLATFORM 1)
function(idf_component_register)
  message("CALLED \${ARGN}")
endfunction()
function(project)
  message(FATAL_ERROR "a component has no project of its own")
endfunction()
include(${join(KIT, 'CMakeLists.txt')})
`;
  writeFileSync(script, text);
  const { status, stderr } = spawnSync('cmake', ['-P', script], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  const words = /^CALLED (.*)$/m.exec(stderr)?.[1]?.split(';') ?? [];
  const given = new Map<string, string[]>();
  let keyword = '';
  for (const word of words) {
    if (/^[A-Z_]+$/.test(word)) keyword = word;
    else given.set(keyword, [...(given.get(keyword) ?? []), word]);
  }
  return given;
}

t.test('the component has all sources, and all headers that they include', { skip: !cmake_is_there }, async (t) => {
  const given = registered(tempFolder(t));
  t.same(given.get('SRC_DIRS'), ['src']);
  t.same(given.get('INCLUDE_DIRS'), ['include']);
  const folders = [...(given.get('INCLUDE_DIRS') ?? []), ...(given.get('PRIV_INCLUDE_DIRS') ?? [])];
  const own = folders.flatMap((folder) => readdirSync(join(KIT, folder)).filter((name) => name.endsWith('.h')));
  const required = given.get('PRIV_REQUIRES') ?? [];
  const files = [...(given.get('SRC_DIRS') ?? []), 'include'].flatMap((folder) =>
    readdirSync(join(KIT, folder)).map((name) => join(folder, name)),
  );
  t.ok(files.includes('src/sender.c') && files.includes('src/recorder.c'));
  const used = new Set<string>();
  for (const file of files) {
    for (const [, header = ''] of readFileSync(join(KIT, file), 'utf8').matchAll(/^\s*#include [<"]([^>"]+)[>"]/gm)) {
      if (own.includes(header) || C99.includes(header)) continue;
      const component = Object.keys(COMPONENTS).find((name) => COMPONENTS[name]?.test(header));
      t.ok(component !== undefined && required.includes(component), `${file} includes ${header}`);
      if (component !== undefined) used.add(component);
    }
  }
  t.same(new Set(required), used, 'nothing is required that nobody includes');
});

t.test('its manifest leaves out what is not for a device, and nothing else', async (t) => {
  const manifest = parse(readFileSync(join(KIT, 'idf_component.yml'), 'utf8'));
  t.match(manifest.version, /^\d+\.\d+\.\d+$/);
  t.same(Object.keys(manifest.dependencies).sort(), ['espressif/cbor', 'idf']);
  // Each names all that lies in a folder.
  const patterns: string[] = manifest.files.exclude;
  const isLeftOut = (path: string) =>
    patterns.some((pattern) => new RegExp(`^${pattern.replace('/**/*', '/').replaceAll('*', '[^/]*')}`).test(path));
  for (const folder of ['src', 'include'])
    for (const name of readdirSync(join(KIT, folder))) t.notOk(isLeftOut(join(folder, name)), name);
  for (const name of ['CMakeLists.txt', 'idf_component.yml', 'README.md']) {
    t.ok(existsSync(join(KIT, name)));
    t.notOk(isLeftOut(name), name);
  }
  t.ok(isLeftOut('tests/kit_tests.c'));
});
