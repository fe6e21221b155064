/* Puts a button beside each text that is worth copying. Without this script the text can be selected all the same. */
const DONE_MS = 2_000;

for (const text of document.querySelectorAll('[data-copy]')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.setAttribute('aria-label', `Copy ${text.dataset.copy}`);
  button.addEventListener('click', () => copy(text, button));
  (text.closest('pre') ?? text).after(button);
}

async function copy(text, button) {
  button.textContent = (await copied(text)) ? 'Copied' : 'Press Ctrl-C';
  setTimeout(() => {
    button.textContent = 'Copy';
  }, DONE_MS);
}

/** Where the page has no access to the clipboard, as without TLS, the text is selected. */
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text.textContent);
    return true;
  } catch {
    getSelection().selectAllChildren(text);
    return false;
  }
}
