/** Adjacent content with the same change, as `/v2/crdt/versions/diff` returns it with the format `runs`. */
export interface ComparedRun {
  readonly change: 'insert' | 'delete' | 'none'
  readonly path: readonly (string | number)[]
  readonly text?: string
  /** The name of an element. Its content follows. */
  readonly node?: string
  readonly values?: readonly unknown[]
}

const kinds = { insert: 'added', delete: 'removed', none: 'same' } as const

/**
 * Converts runs to the parts of a difference. Each element, each value and the text of each type starts a line; a
 * text continues the line of its element.
 */
export function toDiffParts(runs: readonly ComparedRun[]): readonly DiffPart[] {
  /** Parent of the last text. Null: the last run is an element. Undefined: another run, or none. */
  let parent: string | null | undefined
  return runs.map((run, index) => {
    const before = parent
    const ofRun = JSON.stringify(run.path.slice(0, -1))
    parent = run.text !== undefined ? ofRun : run.node !== undefined ? null : undefined
    const continues = run.text !== undefined && (before === null || before === ofRun)
    return { kind: kinds[run.change], text: `${continues || index === 0 ? '' : '\n'}${textOf(run)}` }
  })
}

function textOf({ text, node, values = [], path }: ComparedRun): string {
  if (text !== undefined) return text
  if (node !== undefined) return `${node} `
  return `${path.join(' › ')}: ${values.map((value) => JSON.stringify(value)).join(', ')}`
}

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
