import type { AuthorId } from './author-colors.ts'

/** The origin of a change, in the form in which the server returns it. */
export interface ChangeOriginEntry {
  readonly userId: AuthorId
  readonly source: string | null
  readonly meta: Readonly<Record<string, unknown>> | null
}

/** Adjacent content of one author, as `/v2/crdt/get` returns it with `attribution`. */
export interface AttributedEntry extends ChangeOriginEntry {
  /** Keys and indexes from the root to the start of the run. */
  readonly path: readonly (string | number)[]
  /** Number of UTF-16 units or values. */
  readonly length: number
  /** The text of the run; absent for other content. */
  readonly text?: string
  /** The name of an element; absent for other content. */
  readonly node?: string
  /** ISO 8601; null if the time is unknown. */
  readonly at: string | null
}

/** A line of the authors view. */
interface AttributedLine {
  /** The path of a value; '' for text and elements. */
  readonly label: string
  readonly runs: readonly AttributedEntry[]
}

/**
 * Groups runs into lines. The texts of one type are one line. An element starts a line, and its text continues
 * the line. Each value has its own line.
 */
export function toLines(runs: readonly AttributedEntry[]): readonly AttributedLine[] {
  const lines: { label: string; runs: AttributedEntry[] }[] = []
  /** Parent of the texts of the last line. Null: the last line is an element without text. */
  let parent: string | null = ''
  for (const run of runs) {
    const last = lines.at(-1)
    const ofRun = JSON.stringify(run.path.slice(0, -1))
    if (run.text !== undefined) {
      if (last !== undefined && (parent === null || parent === ofRun)) last.runs.push(run)
      else lines.push({ label: '', runs: [run] })
      parent = ofRun
    } else {
      lines.push({ label: run.node === undefined ? run.path.join(' › ') : '', runs: [run] })
      parent = run.node === undefined ? '' : null
    }
  }
  return lines
}

/** Returns the number of units that each author has written, in the order of the document. */
export function unitsByAuthor(runs: readonly AttributedEntry[]): ReadonlyMap<AuthorId, number> {
  const units = new Map<AuthorId, number>()
  for (const { userId, length } of runs) units.set(userId, (units.get(userId) ?? 0) + length)
  return units
}
