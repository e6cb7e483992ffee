import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { useQuery } from '../../api/hooks.ts'
import { Select } from '../../ui/controls.tsx'
import { ActionOutcome } from '../../ui/notice.tsx'
import type { EditorAddress } from '../live/live-view.ts'
import type { EditableContent } from './content-text.ts'
import type { EditorInfo } from './editor-info.ts'

export interface RootProps {
  readonly address: EditorAddress
  readonly roots: readonly string[]
}

/** Properties of a view of an editor that loads its code on demand. */
export interface ContentViewProps extends RootProps {
  /** Name of the attached schema; undefined without one. */
  readonly schema: string | undefined
}

interface RootContent {
  /** Content of the selected root; undefined until it has been read. */
  readonly content: (EditorInfo & EditableContent) | undefined
  /** Field that selects the root, and the outcome of the last change. */
  readonly controls: VNode
  /**
   * Reads the content again, so that the next change starts with the new content.
   * @param done sentence that describes the last change; null if nothing was changed
   */
  readonly readAgain: (done: string | null) => void
}

/** Reads the content of one of several roots. */
export function useRootContent({ address, roots }: RootProps): RootContent {
  const [root, setRoot] = useState(roots[0])
  const { data, error, reload } = useQuery<readonly (EditorInfo & EditableContent)[]>('/v2/crdt/get', {
    ...address,
    ...(root !== undefined && { contentKey: root }),
  })
  const read = data?.[0]
  const [message, setMessage] = useState<string | null>(null)
  return {
    content: read?.contentKey === (root ?? read?.contentKey) ? read : undefined,
    controls: (
      <>
        {roots.length > 1 && (
          <Select
            label="Root"
            value={root ?? ''}
            options={roots.map((name) => [name, name] as const)}
            onChange={setRoot}
          />
        )}
        <ActionOutcome error={error} done={message} />
      </>
    ),
    readAgain: (done) => {
      setMessage(done)
      reload()
    },
  }
}
