/* "Try it" under each operation: sends a request to this server with a token that the reader pastes. The token is kept
   nowhere but in this page. */
const SHOWN_CHARS_MAX = 100_000;
const HEADERS = ['content-type', 'retry-after', 'www-authenticate', 'x-request-id'];
let token = '';

for (const place of document.querySelectorAll('[data-trial]')) {
  const operation = JSON.parse(place.dataset.trial);
  const details = made('details', { className: 'try' });
  details.append(made('summary', { textContent: 'Try it' }));
  place.append(details);
  details.addEventListener('toggle', () => details.childElementCount > 1 || details.append(...formOf(operation)));
}

function made(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

function field(name, control, hint = '') {
  const label = made('label', {}, made('span', { textContent: name }));
  if (hint !== '') label.append(made('span', { className: 'types', textContent: ` ${hint}` }));
  label.append(control);
  return label;
}

function formOf({ method, path, needs_token, parameters, body }) {
  const form = made('form');
  const plain = { autocomplete: 'off', spellcheck: false };
  const token_input = made('input', { ...plain, type: 'password', value: token });
  const inputs = parameters.map(({ name, place, required, example }) => {
    const input = made('input', { ...plain, required, placeholder: example });
    return { name, place, required, input };
  });
  const body_input = body === null ? null : made('textarea', { ...plain, rows: 6, value: body.text });
  if (needs_token) form.append(field('Access token', token_input, 'stays in this page'));
  form.append(...inputs.map(({ name, required, input }) => field(name, input, required ? '' : 'optional')));
  if (body_input !== null) form.append(field('Body', body_input, body.type));
  const button = made('button', { type: 'submit', textContent: `Send ${method}` });
  form.append(button);
  const result = made('div', { className: 'result-of-try' });
  result.setAttribute('role', 'status');
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    token = token_input.value.trim();
    button.disabled = true;
    const sent = requestOf({ method, path, inputs, body, body_text: body_input?.value, needs_token });
    result.replaceChildren(...('wrong' in sent ? [note(sent.wrong)] : await answerTo(sent)));
    button.disabled = false;
  });
  const told = method === 'GET' ? [] : [note('This changes the data of the account that the token is for.')];
  return [...told, form, result];
}

function requestOf({ method, path, inputs, body, body_text, needs_token }) {
  if (needs_token && token === '') return { wrong: 'Paste an access token first.' };
  const query = new URLSearchParams();
  let filled = path;
  for (const { name, place, input } of inputs) {
    const value = input.value.trim();
    if (place === 'path') filled = filled.replace(`{${name}}`, encodeURIComponent(value));
    else if (value !== '') query.set(name, value);
  }
  const headers = needs_token ? { authorization: `Bearer ${token}` } : {};
  let sent_body;
  if (body !== null && body_text.trim() !== '') {
    headers['content-type'] = body.type;
    try {
      const value = JSON.parse(body_text);
      sent_body = body.type === 'application/json' ? JSON.stringify(value) : new URLSearchParams(value).toString();
    } catch (error) {
      return { wrong: `The body is no JSON: ${error.message}` };
    }
  }
  const asked = query.toString();
  return { address: asked === '' ? filled : `${filled}?${asked}`, method, headers, body: sent_body };
}

/** Without cookies: what a browser session may do has no part in it. */
async function answerTo({ address, ...request }) {
  const began = performance.now();
  try {
    const answer = await fetch(address, { ...request, credentials: 'omit', cache: 'no-store', redirect: 'manual' });
    const bytes = await answer.arrayBuffer();
    const ms = Math.round(performance.now() - began);
    const head = made('p', {}, made('span', { className: 'status', textContent: statusOf(answer) }), ` in ${ms} ms`);
    const lines = HEADERS.flatMap((name) => (answer.headers.has(name) ? [`${name}: ${answer.headers.get(name)}`] : []));
    const shown = [lines.join('\n'), textOf(answer, bytes)].filter(Boolean).join('\n\n');
    return shown === '' ? [head] : [head, made('pre', { tabIndex: 0 }, made('code', { textContent: shown }))];
  } catch {
    return [note('The server does not answer.')];
  }
}

function statusOf({ type, status }) {
  return type === 'opaqueredirect' ? 'a redirect' : String(status);
}

function textOf(answer, bytes) {
  const type = answer.headers.get('content-type') ?? '';
  if (bytes.byteLength === 0) return '';
  if (!/json|^text\//.test(type)) return `${bytes.byteLength} bytes`;
  const text = new TextDecoder().decode(bytes);
  return cut(/json/.test(type) && text !== '' ? JSON.stringify(JSON.parse(text), null, 2) : text);
}

function cut(text) {
  return text.length <= SHOWN_CHARS_MAX ? text : `${text.slice(0, SHOWN_CHARS_MAX)}…`;
}

function note(text) {
  return made('p', { className: 'hint', textContent: text });
}
