/** A part of the difference of two texts. */
export interface DiffPart {
  readonly kind: 'same' | 'added' | 'removed'
  readonly text: string
}

/** Number of characters of unchanged text that are shown on each side of a change. */
const contextCharacters = 120

/** A part in the form in which it is displayed. The middle of a long unchanged text is omitted. */
interface DiffSegment extends DiffPart {
  /** Number of omitted characters. */
  readonly omitted?: number
}

/** Omits the middle of each long unchanged text. */
export function collapseUnchanged(parts: readonly DiffPart[]): readonly DiffSegment[] {
  return parts.flatMap((part, index): DiffSegment[] => {
    const { kind, text } = part
    const head = index === 0 ? 0 : contextCharacters
    const tail = index === parts.length - 1 ? 0 : contextCharacters
    if (kind !== 'same' || text.length <= head + tail + contextCharacters) return [part]
    const [first, last] = [text.slice(0, head), text.slice(text.length - tail)]
    const omitted = { kind, text: '', omitted: text.length - head - tail }
    return [
      ...(head > 0 ? [{ kind, text: first }] : []),
      omitted,
      ...(tail > 0 ? [{ kind, text: last }] : []),
    ]
  })
}
