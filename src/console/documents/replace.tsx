import { Fragment } from 'preact'
import { useState } from 'preact/hooks'
import { useCall } from '../calls.ts'
import { Choice } from '../ui/controls.tsx'
import { Outcome } from '../ui/notice.tsx'
import type { RootContent } from './forms.ts'
import type { Head } from './head.ts'
import { type Kind, kinds, nothing } from './kinds.ts'
import type { EditorAddress } from './live/scene.ts'
import { ReplaceBox } from './replace-box.tsx'

interface ReplaceProps {
  readonly address: EditorAddress
  readonly roots: readonly string[]
}

/** Content by hand, of one root. */
export function Replace({ address, roots }: ReplaceProps) {
  const [root, setRoot] = useState(roots[0])
  const { data, error, reload } = useCall<readonly (Head & RootContent)[]>('/v2/crdt/get', {
    ...address,
    ...(root !== undefined && { contentKey: root }),
  })
  const read = data?.[0]
  // An empty root may be anything, and the server calls it text.
  const isEmpty = read?.type === 'text' && read.data === ''
  const [kind, setKind] = useState<Kind>('text')
  const base = isEmpty && read !== undefined ? { ...read, type: kind, data: nothing[kind] } : read
  const [said, setSaid] = useState<string | null>(null)
  // What was replaced is what the next change is made from.
  const readAgain = (done: string | null) => {
    setSaid(done)
    reload()
  }
  return (
    <>
      <h2>Replace content</h2>
      <p>
        Only what you change here is changed in the document: what people type meanwhile stays, and they see
        your change at once.
      </p>
      {roots.length > 1 && (
        <Choice
          label="Root"
          value={root ?? ''}
          options={roots.map((name) => [name, name] as const)}
          onChange={setRoot}
        />
      )}
      {isEmpty && (
        <Choice label="Content of the empty root" value={kind} options={kinds} onChange={setKind} />
      )}
      <Outcome error={error} done={said} />
      {base !== undefined && base.contentKey === (root ?? base.contentKey) && (
        // What is read anew is edited anew, not before it is there.
        <Fragment key={read}>
          <ReplaceBox key={base.type} address={address} base={base} onReadAgain={readAgain} />
        </Fragment>
      )}
    </>
  )
}
