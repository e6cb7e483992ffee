import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import * as Y from 'yjs'
import type { CrdtHistoryData } from '../../../client/api/operation-types.ts'
import type { ApiCallError } from '../../api/client.ts'
import { useQuery } from '../../api/hooks.ts'
import type { EditorAddress } from '../editor.ts'
import type { LiveDocument } from '../live/live-document.ts'
import { Moments } from './moments.ts'

/** Time in ms between an edit and the next read of the authors. After a slow read, it is ten times as long as the read. */
const pauseMs = 1_000

interface DocumentHistory {
  /** The live document with its deleted content. */
  readonly doc: Y.Doc
  readonly moments: Moments
}

interface HistoryState {
  /** Null before the first read. */
  readonly history: DocumentHistory | null
  readonly error: ApiCallError | null
  readonly reload: () => void
}

const noHistory = { origins: [], inserted: [], deleted: [] }

/**
 * Reads the history of an editor, and reads it again after edits. If it cannot be read, returns the live content without
 * authors, which has only the present moment.
 */
export function useHistory(address: EditorAddress, live: LiveDocument): HistoryState {
  const { data, error, loading, reload } = useQuery<CrdtHistoryData>('/v2/crdt/history', address)
  const doc = useMemo(() => new Y.Doc({ gc: false }), [live])
  const [moments, setMoments] = useState<Moments | null>(null)
  const began = useRef(performance.now())
  const tookMs = useRef(0)
  useEffect(() => {
    if (data === null && error === null) return
    tookMs.current = performance.now() - began.current
    // The deleted content must come first: a document does not take content for ids that it knows as deleted.
    const read = new Y.Doc({ gc: false })
    if (data !== null) Y.applyUpdate(read, bytesOf(data.update))
    Y.applyUpdate(doc, Y.encodeStateAsUpdate(read))
    setMoments(new Moments(read, data ?? noHistory))
    read.destroy()
  }, [data, error])
  const isRead = moments !== null
  useEffect(() => {
    if (!isRead) return undefined
    let timer: ReturnType<typeof setTimeout> | undefined
    const follow = (update: Uint8Array) => {
      Y.applyUpdate(doc, update)
      timer ??= setTimeout(
        () => {
          timer = undefined
          began.current = performance.now()
          reload()
        },
        Math.max(pauseMs, 10 * tookMs.current),
      )
    }
    Y.applyUpdate(doc, Y.encodeStateAsUpdate(live.doc))
    live.doc.on('update', follow)
    return () => {
      live.doc.off('update', follow)
      clearTimeout(timer)
    }
  }, [doc, isRead])
  return { history: moments && { doc, moments }, error: loading ? null : error, reload }
}

const bytesOf = (base64: string): Uint8Array => Uint8Array.from(atob(base64), (each) => each.charCodeAt(0))
