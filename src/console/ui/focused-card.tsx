import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

interface OpenedProps {
  readonly label: string
  readonly children: ComponentChildren
}

/**
 * Shows a card that the user has opened, for example far down in a list. The card gets the focus, so that the
 * browser scrolls to it.
 */
export function FocusedCard({ label, children }: OpenedProps) {
  const card = useRef<HTMLElement>(null)
  useEffect(() => card.current?.focus(), [])
  return (
    <section class="card" ref={card} tabIndex={-1} aria-label={label}>
      {children}
    </section>
  )
}
