import { escapeControls } from '../../text.ts'
import type { OnlineChange, OnlineHunk } from '../../transfer/documents/authorship-online.ts'
import { colored } from './line-diff.ts'

/** Describes a change set: a line with the author, and the lines of its hunks. */
export const describeChange = (change: OnlineChange): string =>
  [headOf(change), ...change.hunks.flatMap(linesOf).map(colored)].join('\n')

/** Describes the author of content: user, time, source and `meta`. */
export function describeOrigin({
  userId,
  source,
  meta,
}: Pick<OnlineChange, 'userId' | 'source' | 'meta'>): string {
  const parts = [userId ?? '(unknown)', source ?? '', meta === null ? '' : JSON.stringify(meta)]
  return escapeControls(parts.filter((part) => part !== '').join('  '))
}

function headOf(change: OnlineChange): string {
  const { changeId, firstAt, inserted, deleted } = change
  const time = firstAt?.slice(0, 19) ?? '-'.padEnd(19)
  return `${time}  ${changeId}  ${describeOrigin(change)}  +${inserted} -${deleted}`
}

function linesOf(hunk: OnlineHunk): readonly string[] {
  const { deleted, inserted, deletedNodes, insertedNodes, deletedValues, insertedValues } = hunk
  return [
    ...textLines('-', deleted),
    ...textLines('+', inserted),
    ...deletedNodes.map((name) => `-<${name}>`),
    ...insertedNodes.map((name) => `+<${name}>`),
    ...deletedValues.map((value) => `-${JSON.stringify(value)}`),
    ...insertedValues.map((value) => `+${JSON.stringify(value)}`),
    ...hunk.entries.flatMap(({ key, before, after }) => [
      ...(before === undefined ? [] : [`-${key}: ${JSON.stringify(before)}`]),
      ...(after === undefined ? [] : [`+${key}: ${JSON.stringify(after)}`]),
    ]),
    ...hunk.formatting.map(
      ({ name, before, after, text }) =>
        `@ ${name}: ${JSON.stringify(before)} → ${JSON.stringify(after)}  ${JSON.stringify(text)}`,
    ),
  ]
}

const textLines = (sign: string, text: string): readonly string[] =>
  text === '' ? [] : text.split('\n').map((line) => `${sign}${line}`)
