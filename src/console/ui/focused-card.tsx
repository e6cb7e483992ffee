import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

interface OpenedProps {
  readonly label: string
  readonly children: ComponentChildren
}

/** A card that opens on request, maybe far down in a list. It takes the focus, which scrolls it into view. */
export function FocusedCard({ label, children }: OpenedProps) {
  const card = useRef<HTMLElement>(null)
  useEffect(() => card.current?.focus(), [])
  return (
    <section class="card" ref={card} tabIndex={-1} aria-label={label}>
      {children}
    </section>
  )
}
