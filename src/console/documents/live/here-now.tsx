import * as Y from 'yjs'
import type { CrdtHistoryDataOriginsItem } from '../../../client/api/operation-types.ts'
import type { SharedRoot } from '../../../core/content/yjs/root-kind.ts'
import { formatTime } from '../../ui/format.ts'
import { type AwarenessUser, caretPositions } from './awareness-users.ts'

const UserName = ({ person: { name, color, isAgent } }: { readonly person: AwarenessUser }) => (
  <>
    {color !== null && <span class="swatch" style={{ backgroundColor: color }} />} {name}{' '}
    {isAgent && <span class="tag">agent</span>}
  </>
)

interface HereNowProps {
  readonly doc: Y.Doc
  readonly people: readonly AwarenessUser[]
  /** The changes of the editor in the order of time; null before they are read. */
  readonly steps: readonly CrdtHistoryDataOriginsItem[] | null
}

/** Lists the users on the editor with the text at their cursors, and with their last changes. */
export function HereNow({ doc, people, steps }: HereNowProps) {
  if (people.length === 0) return null
  const carets = caretPositions(doc, people)
  const places = new Map(
    [...carets].flatMap(([type, all]) =>
      all.map(({ clientId, index }) => [clientId, textAround(type, index)] as const),
    ),
  )
  return (
    <ul class="legend here" aria-label="Here now">
      {people.map((person) => {
        const place = places.get(person.clientId) ?? ''
        const last = steps?.findLast(({ userId }) => userId === person.userId)?.at
        return (
          <li key={`${person.clientId} ${person.userId}`}>
            <UserName person={person} />
            {place !== '' && <> at “{place}”</>}
            {steps !== null && (
              <span class="hint">{last ? `last change ${formatTime(last)}` : 'no change yet'}</span>
            )}
          </li>
        )
      })}
    </ul>
  )
}

/** Number of characters on each side of a cursor. */
const aroundMax = 15

/** Returns the text around a position, with a bar at the position. */
function textAround(type: SharedRoot, index: number): string {
  let text = ''
  for (let item = type._start; item !== null && text.length < index + aroundMax; item = item.right) {
    if (item.deleted || !item.countable) continue
    text += item.content instanceof Y.ContentString ? item.content.str : ' '.repeat(item.length)
  }
  const before = text.slice(Math.max(0, index - aroundMax), index)
  const after = text.slice(index, index + aroundMax)
  return before + after === '' ? '' : `${before}|${after}`
}
