import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

interface OpenedProps {
  readonly label: string
  readonly children: ComponentChildren
}

/** A card that somebody has asked for, maybe far down in a list: it takes the focus, and with it comes into sight. */
export function FocusedCard({ label, children }: OpenedProps) {
  const card = useRef<HTMLElement>(null)
  useEffect(() => card.current?.focus(), [])
  return (
    <section class="card" ref={card} tabIndex={-1} aria-label={label}>
      {children}
    </section>
  )
}
