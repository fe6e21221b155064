/*
 * The top of a module holds no state: several servers in one process would share it. What a server keeps is a part that is
 * passed. `node tools/checks/module_state.mjs [ROOT]`: a line for each `let`, each cache or pool, and each constant that a
 * function changes, also as a static member; exit code 1 if there is one. A table that is filled while its module is
 * loaded is no state. What a pure function has answered is kept by `PureMemo` (src/domain/pure_memo.ts).
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = process.argv[2] ?? fileURLToPath(new URL('../..', import.meta.url));
const FOLDERS = ['src', 'actors', 'routes', 'certs'];
/** Made to be filled while a server runs. */
const STATEFUL = new Set(['AsyncLocalStorage', 'LRUCache', 'RecentlyUsed', 'SharedPool', 'WeakMap', 'WeakSet']);
const CHANGES = new Set('add clear copyWithin delete fill pop push reverse set shift sort splice unshift'.split(' '));

for (const path of FOLDERS.filter((folder) => existsSync(join(root, folder))).flatMap(sourcesIn)) {
  const source = ts.createSourceFile(path, readFileSync(join(root, path), 'utf8'), ts.ScriptTarget.Latest, true);
  for (const { node, why } of statesIn(source)) {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart());
    console.log(`${path}:${line + 1}: ${why}`);
    process.exitCode = 1;
  }
}

function sourcesIn(folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

function statesIn(source) {
  const found = [];
  const constants = new Map();
  const note = (name, node, value) => {
    if (value !== undefined && ts.isNewExpression(value) && STATEFUL.has(value.expression.getText()))
      found.push({ node, why: `${name} is a ${value.expression.getText()}` });
    else constants.set(name, node);
  };
  for (const statement of source.statements) {
    if (ts.isClassDeclaration(statement)) {
      for (const member of statement.members.filter(isStaticField))
        note(`${statement.name?.text}.${member.name.getText()}`, member, member.initializer);
    }
    if (!ts.isVariableStatement(statement) || isDeclared(statement)) continue;
    const is_const = (statement.declarationList.flags & ts.NodeFlags.Const) !== 0;
    for (const one of statement.declarationList.declarations) {
      if (is_const) note(one.name.getText(), one, one.initializer);
      else found.push({ node: one, why: `${one.name.getText()} is a variable` });
    }
  }
  for (const name of changedIn(source)) {
    if (constants.has(name)) found.push({ node: constants.get(name), why: `${name} is changed by a function` });
  }
  return found;
}

function isStaticField(member) {
  return ts.isPropertyDeclaration(member) && member.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.StaticKeyword);
}

function isDeclared({ modifiers }) {
  return modifiers?.some(({ kind }) => kind === ts.SyntaxKind.DeclareKeyword) === true;
}

/** Names whose values functions of this file change, where no parameter or variable of theirs has that name. */
function changedIn(source) {
  const changed = new Set();
  const visit = (node, hidden) => {
    const own = ts.isFunctionLike(node) ? new Set([...(hidden ?? []), ...namesIn(node)]) : hidden;
    const name = own === null ? null : changedBy(node);
    if (name !== null && !own.has(name.split('.')[0])) changed.add(name);
    ts.forEachChild(node, (child) => visit(child, own));
  };
  visit(source, null);
  return changed;
}

/** Names that a function declares, in itself and in the functions in it. */
function namesIn(callable) {
  const names = new Set();
  const visit = (node) => {
    if (
      (ts.isParameter(node) || ts.isVariableDeclaration(node) || ts.isBindingElement(node)) &&
      ts.isIdentifier(node.name)
    )
      names.add(node.name.text);
    ts.forEachChild(node, visit);
  };
  visit(callable);
  return names;
}

function changedBy(node) {
  if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
    const { expression, name } = node.expression;
    return CHANGES.has(name.text) ? expression.getText() : null;
  }
  const is_assignment =
    ts.isBinaryExpression(node) &&
    node.operatorToken.kind >= ts.SyntaxKind.FirstAssignment &&
    node.operatorToken.kind <= ts.SyntaxKind.LastAssignment;
  const to = is_assignment ? node.left : ts.isPostfixUnaryExpression(node) ? node.operand : null;
  if (to === null) return null;
  if (ts.isElementAccessExpression(to)) return to.expression.getText();
  return ts.isPropertyAccessExpression(to) ? to.expression.getText() : null;
}
