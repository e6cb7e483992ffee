import type { CrdtGetDataItem } from '../../../client/api/operation-types.ts'
import { useQuery } from '../../api/hooks.ts'
import type { EditorAddress } from '../editor.ts'
import { HereNow } from '../live/here-now.tsx'
import type { LiveDocument } from '../live/live-document.ts'
import { useLiveDocument } from '../live/use-live-document.ts'
import { useHistory } from './use-history.ts'

/** Size in bytes. Larger editors are not read. */
const readBytesMax = 1024 * 1024

interface EditorUsersProps {
  readonly address: EditorAddress
  readonly users: readonly { readonly userId: string; readonly name: string }[]
}

/** Lists connected users of an editor with their places in it and their last changes; only their names if the editor is large. */
export function EditorUsers({ address, users }: EditorUsersProps) {
  const question = { ...address, format: 'roots', statistics: true }
  const { data } = useQuery<readonly CrdtGetDataItem[]>('/v2/crdt/get', question)
  const size = data?.[0]?.sizeBytes ?? Number.POSITIVE_INFINITY
  if (size <= readBytesMax) return <OpenEditor address={address} users={users} />
  return <p>{users.map(({ name }) => name).join(', ')}</p>
}

function OpenEditor({ address, users }: EditorUsersProps) {
  const live = useLiveDocument(address)
  return live && <PlacedUsers {...{ address, users, live }} />
}

function PlacedUsers({ address, users, live }: EditorUsersProps & { readonly live: LiveDocument }) {
  const { history } = useHistory(address, live)
  const present = live.people.all()
  // The clients of the others publish no awareness state.
  const others = users
    .filter(({ userId }) => !present.some((each) => each.userId === userId))
    .map((user) => ({ ...user, clientId: 0, since: 0, isAgent: false, color: null, cursor: null }))
  return <HereNow doc={live.doc} people={[...present, ...others]} steps={history?.moments.steps ?? null} />
}
