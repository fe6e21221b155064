/* Shows one language of the samples at a time, the one that was chosen last. Without this script all of them are shown. */
const KEPT_AS = 'spool.sample_language';
const groups = [...document.querySelectorAll('.samples')].map((group, number) => tabsOf(group, number));

function tabsOf(group, number) {
  const tabs = [...group.querySelectorAll('section')].map((panel) => {
    const { language } = panel.dataset;
    panel.querySelector('h4').hidden = true;
    panel.id = `sample-${number}-${language}`;
    panel.setAttribute('role', 'tabpanel');
    panel.setAttribute('aria-label', language);
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = language;
    button.setAttribute('role', 'tab');
    button.setAttribute('aria-controls', panel.id);
    button.addEventListener('click', () => choose(language));
    return { language, panel, button };
  });
  const list = document.createElement('div');
  list.className = 'languages';
  list.setAttribute('role', 'tablist');
  list.setAttribute('aria-label', 'Language of the samples');
  list.append(...tabs.map(({ button }) => button));
  list.addEventListener('keydown', (event) => step(event, tabs));
  group.prepend(list);
  return tabs;
}

function step(event, tabs) {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (by === undefined) return;
  event.preventDefault();
  const at = tabs.findIndex(({ button }) => button === document.activeElement);
  const next = tabs[(at + by + tabs.length) % tabs.length];
  choose(next.language);
  next.button.focus();
}

/** All operations change at once; the one in sight stays where it is. */
function choose(language) {
  const before = document.activeElement?.getBoundingClientRect().top;
  show(language);
  const after = document.activeElement?.getBoundingClientRect().top;
  if (before !== undefined && after !== undefined) scrollBy({ top: after - before, behavior: 'instant' });
  try {
    localStorage.setItem(KEPT_AS, language);
  } catch {
    // A browser that keeps nothing shows the first language the next time.
  }
}

function show(language) {
  for (const tabs of groups)
    for (const { language: own, panel, button } of tabs) {
      panel.hidden = own !== language;
      button.setAttribute('aria-selected', String(own === language));
      button.tabIndex = own === language ? 0 : -1;
    }
}

function keptLanguage() {
  try {
    return localStorage.getItem(KEPT_AS);
  } catch {
    return null;
  }
}

const languages = groups[0]?.map(({ language }) => language) ?? [];
if (languages.length > 0) {
  const kept = keptLanguage();
  show(languages.includes(kept) ? kept : languages[0]);
}
