import { recordedTrace } from '../support/recorded-trace.ts'

/** A keystroke at the caret: inserted characters, or null for the deletion of the character before the caret. */
export type Keystroke = string | null

/** Keystrokes of the recorded session in which the stretches are searched. */
const searchedKeystrokes = 100_000
/** A longer insertion was pasted, not typed. */
const typedMax = 4

export interface RecordedTyping {
  readonly source: string
  /** Keystrokes without a line break or a jump of the caret. None of them deletes earlier text. */
  readonly stretches: readonly (readonly Keystroke[])[]
}

/** Returns the stretches of the recorded session that have at least `length` keystrokes. */
export function recordedTyping(length: number): RecordedTyping {
  const { source, patches } = recordedTrace(searchedKeystrokes)
  const stretches: Keystroke[][] = []
  let stretch: Keystroke[] = []
  let [caret, typed] = [0, 0]
  for (const [position, deleted, inserted] of patches) {
    const isDeletion = inserted === '' && deleted === 1 && position === caret - 1 && typed > 0
    const isInsertion = deleted === 0 && inserted.length <= typedMax && !inserted.includes('\n')
    if (!isDeletion && (position !== caret || !isInsertion)) {
      stretches.push(stretch)
      ;[stretch, typed] = [[], 0]
    }
    caret = position + inserted.length
    if (!isDeletion && !isInsertion) continue
    stretch.push(isDeletion ? null : inserted)
    typed += isDeletion ? -1 : inserted.length
  }
  return { source, stretches: [...stretches, stretch].filter((keystrokes) => keystrokes.length >= length) }
}
