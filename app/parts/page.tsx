import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { visits } from '../router.js';
import { Icon } from './icon.js';

/** A page: its name in the window and as its heading, which takes the focus when another page led here. */
export function Page({
  title,
  heading,
  lead,
  back,
  actions,
  site = 'Spool',
  children,
}: {
  title: string;
  /** Where the heading holds more than the title. */
  heading?: ComponentChildren;
  lead?: ComponentChildren;
  back?: { href: string; name: string };
  actions?: ComponentChildren;
  /** Stands behind the title in the window. */
  site?: string;
  children: ComponentChildren;
}) {
  const h1 = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · ${site}`;
  }, [title, site]);
  useEffect(() => {
    if (visits.peek() > 0) h1.current?.focus({ preventScroll: true });
  }, []);
  return (
    <>
      {back !== undefined && (
        <p class="way-back">
          <a href={back.href}>
            <Icon name="back" size={18} />
            <span>{back.name}</span>
          </a>
        </p>
      )}
      <div class="page-head">
        <div class="page-name">
          <h1 ref={h1} tabIndex={-1}>
            {heading ?? title}
          </h1>
          {lead !== undefined && <div class="lead">{lead}</div>}
        </div>
        {actions !== undefined && <div class="actions">{actions}</div>}
      </div>
      {children}
    </>
  );
}

/** A part of a page with a heading of its own. */
export function Section({
  id,
  title,
  lead,
  actions,
  children,
}: {
  /** Where an address leads to it. */
  id?: string;
  title: string;
  lead?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
}) {
  const own = useId();
  const heading = `${id ?? own}-heading`;
  return (
    <section class="section" id={id} aria-labelledby={heading}>
      <div class="section-head">
        <div>
          <h2 id={heading}>{title}</h2>
          {lead !== undefined && <p class="lead">{lead}</p>}
        </div>
        {actions !== undefined && <div class="actions">{actions}</div>}
      </div>
      {children}
    </section>
  );
}
