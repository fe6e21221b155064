import { readFileSync } from 'node:fs';
import { Marked } from 'marked';
import { renderTemplate } from '../pages/page.js';
import { GUIDES, type Guide } from './guide_names.js';
import { GUIDES_PATH, guidePath, pageParts } from './page_parts.js';

/** Stands in guides where the address of the server belongs. */
const EXAMPLE_URL = 'https://spool.example';

/** The words for a block of code on the button that copies it, by its language. */
const COPIED: Readonly<Record<string, string>> = {
  sh: 'these commands',
  ts: 'this TypeScript',
  js: 'this JavaScript',
  python: 'this Python',
  json: 'this JSON',
};

type Heading = { id: string; text: string };

/** The page that leads to all guides. */
export function guidesPage(): string {
  return renderTemplate('guides', {
    ...pageParts(GUIDES_PATH),
    title: 'Guides · Spool',
    guides: GUIDES.map(({ name, title, about }) => ({ path: guidePath(name), title, about })),
  });
}

/** A guide. It is ours alone, so what it holds is trusted. */
export function guidePage(name: Guide, base_url: string): string {
  const written = readFileSync(new URL(`../../../docs/${name}.md`, import.meta.url), 'utf8');
  const text = written.replaceAll(EXAMPLE_URL, base_url);
  const headings: Heading[] = [];
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const id = text.toLowerCase().replace(/[^a-z0-9]+/g, '-');
        if (depth === 2) headings.push({ id, text });
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      /** Files name each other so that they can be read as files; those that are no guides are not served. */
      link({ href, tokens }) {
        const words = this.parser.parseInline(tokens);
        const [, path = '', named = '', anchor = ''] = /^((?:\.\.\/)?(?:\w+\/)*)(\w+)\.md(#.*)?$/.exec(href) ?? [];
        if (named !== '' && !isGuide(named))
          return `${words} (<code>${path === '' ? 'docs/' : path.replace('../', '')}${named}.md</code>)`;
        // Other files of the repository are named where they are linked.
        if (href.startsWith('../')) return words;
        return `<a href="${isGuide(named) ? guidePath(named) + anchor : href}">${words}</a>`;
      },
      // Tables and code are wider than a phone: they scroll by themselves.
      table(token) {
        const cells = (row: typeof token.header, tag: string) =>
          row.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('');
        const rows = token.rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('');
        return `<div class="wide" tabindex="0"><table><thead><tr>${cells(token.header, 'th')}</tr></thead><tbody>${rows}</tbody></table></div>\n`;
      },
      code({ text: code, lang }) {
        const said = COPIED[lang?.split(' ')[0] ?? ''] ?? 'this text';
        return `<pre tabindex="0"><code data-copy="${said}">${escaped(code)}</code></pre>\n`;
      },
    },
  });
  const body = marked.parse(text, { async: false });
  return renderTemplate('guide', {
    ...pageParts(guidePath(name)),
    title: `${GUIDES.find((guide) => guide.name === name)?.title} · Spool`,
    headings,
    guide: body,
  });
}

function isGuide(name: string): name is Guide {
  return GUIDES.some((guide) => guide.name === name);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
