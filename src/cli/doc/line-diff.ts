import { diffTokens, type Hunk } from '../../content/diff/diff.ts'
import { escapeControls } from '../../text.ts'

/** Number of unchanged lines that are shown around a change. */
const around = 3
/**
 * Maximum number of steps of the comparison. If more steps would be needed, the difference is a single
 * replaced block.
 */
const stepsMax = 20_000_000

/**
 * Returns the difference of two texts in the unified format: each line has `+`, `-` or a space in front, and
 * each part begins with `@@`.
 */
export function lineDiff(before: readonly string[], after: readonly string[]): readonly string[] {
  const ids = new Map<string, number>()
  const intern = (line: string): number => {
    const id = ids.get(line) ?? ids.size
    ids.set(line, id)
    return id
  }
  const hunks = diffTokens(Int32Array.from(before, intern), Int32Array.from(after, intern), {
    steps: stepsMax,
  })
  return together(hunks).flatMap((part) => partLines(part, before, after))
}

/** Groups hunks that are near to each other. */
function together(hunks: readonly Hunk[]): readonly (readonly Hunk[])[] {
  const parts: Hunk[][] = []
  for (const hunk of hunks) {
    const last = parts.at(-1)
    const end = last?.at(-1)?.aEnd
    if (last !== undefined && end !== undefined && hunk.aStart - end <= around * 2) last.push(hunk)
    else parts.push([hunk])
  }
  return parts
}

function partLines(
  part: readonly Hunk[],
  before: readonly string[],
  after: readonly string[],
): readonly string[] {
  const [first, last] = [part[0] as Hunk, part.at(-1) as Hunk]
  const start = Math.max(0, first.aStart - around)
  const end = Math.min(before.length, last.aEnd + around)
  const lines = [`@@ -${start + 1} +${first.bStart - (first.aStart - start) + 1} @@`]
  let at = start
  for (const { aStart, aEnd, bStart, bEnd } of part) {
    for (const line of before.slice(at, aStart)) lines.push(` ${line}`)
    for (const line of before.slice(aStart, aEnd)) lines.push(`-${line}`)
    for (const line of after.slice(bStart, bEnd)) lines.push(`+${line}`)
    at = aEnd
  }
  for (const line of before.slice(at, end)) lines.push(` ${line}`)
  return lines
}

const colors: Readonly<Record<string, number>> = { '+': 32, '-': 31, '@': 36 }

/** Returns a line of a difference for a terminal, without control characters, and in the color of its first character. */
export function colored(line: string): string {
  const shown = escapeControls(line)
  const color = colors[line[0] ?? '']
  return process.stdout.isTTY && color !== undefined ? `\u001b[${color}m${shown}\u001b[0m` : shown
}
