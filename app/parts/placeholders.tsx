import type { ComponentChildren } from 'preact';
import type { ApiError } from '../api/api_error.js';
import type { Loaded, LoadedList } from '../api/loading.js';
import { say } from '../language/say.js';
import { Button } from './button.js';
import { Icon, type IconName } from './icon.js';

/** The placeholder for an empty list: what the list is for, and what to do next. */
export function EmptyState({
  icon,
  title,
  children,
  action,
}: {
  icon?: IconName;
  title: string;
  children?: ComponentChildren;
  action?: ComponentChildren;
}) {
  return (
    <div class="empty">
      {icon !== undefined && (
        <span class="empty-icon">
          <Icon name={icon} size={28} />
        </span>
      )}
      <h2>{title}</h2>
      {children !== undefined && <div class="empty-text">{children}</div>}
      {action !== undefined && <div class="actions">{action}</div>}
    </div>
  );
}

export function Loading({ what = say('Loading') }: { what?: string }) {
  return (
    <div class="loading" role="status">
      <span class="spinner" aria-hidden="true" />
      <span>{what}…</span>
    </div>
  );
}

export function Problem({ error, retry }: { error: ApiError; retry?: () => void }) {
  return (
    <div class="notice problem" role="alert">
      <p>{error.message}</p>
      {retry !== undefined && (
        <Button small onClick={retry}>
          {say('Try again')}
        </Button>
      )}
    </div>
  );
}

/** Shows what was loaded, with what stands there before, or instead. */
export function Show<T>({ of, children }: { of: Loaded<T>; children: (data: T) => ComponentChildren }) {
  return (
    <>
      {of.error !== null && <Problem error={of.error} retry={of.reload} />}
      {of.data !== null ? children(of.data) : of.loading && <Loading />}
    </>
  );
}

/** A list with all of its states. `children` makes a row (a `<li>`), unless `whole` takes all rows at once. */
export function List<Item>({
  of,
  empty,
  label,
  children,
  whole,
}: {
  of: LoadedList<Item>;
  empty: ComponentChildren;
  label?: string;
  children?: (item: Item) => ComponentChildren;
  whole?: (items: readonly Item[]) => ComponentChildren;
}) {
  const { items, state, error, more, reload } = of;
  if (state === 'loading') return <Loading />;
  const has_items = items.length > 0;
  return (
    <>
      {!has_items && state === 'ready' && more === null && empty}
      {has_items && whole?.(items)}
      {has_items && whole === undefined && (
        <ul class="list" aria-label={label}>
          {items.map((item) => children?.(item))}
        </ul>
      )}
      {error !== null && <Problem error={error} retry={has_items && more !== null ? more : reload} />}
      {error === null && more !== null && (
        <p class="show-more">
          <Button onClick={more} busy={state === 'more'}>
            {say('Show more')}
          </Button>
        </p>
      )}
    </>
  );
}

export function Badge({
  tone = 'plain',
  children,
}: {
  tone?: 'plain' | 'good' | 'live' | 'caution' | 'wrong';
  children: ComponentChildren;
}) {
  return <span class={`badge ${tone}`}>{children}</span>;
}
