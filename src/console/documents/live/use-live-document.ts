import { useEffect, useRef, useState } from 'preact/hooks'
import { useApi } from '../../api/hooks.ts'
import { consoleUser, type EditorAddress } from '../editor.ts'
import { LiveDocument } from './live-document.ts'

/**
 * Returns the live document; null before the first effect has run. Every change of the document renders the
 * component again.
 */
export function useLiveDocument(address: EditorAddress): LiveDocument | null {
  const api = useApi()
  const [, setCount] = useState(0)
  const live = useRef<LiveDocument | null>(null)
  const { organizationId, documentId, editorId } = address
  useEffect(() => {
    const redraw = () => setCount((count) => count + 1)
    const token = async () => {
      const { token } = await api.call<{ token: string }>('/v2/auth/generate_token', tokenRequest)
      return token
    }
    const opened = new LiveDocument(urlOf(address), token, redraw)
    live.current = opened
    redraw()
    return () => {
      live.current = null
      opened.close()
    }
  }, [api, organizationId, documentId, editorId])
  return live.current
}

/** Request for a token of an administrator, who can read restricted documents without a grant. */
const tokenRequest = {
  userId: consoleUser.id,
  userProperties: { name: consoleUser.name, email: '', isAdmin: true },
  expiresInSeconds: 3600,
}

function urlOf({ organizationId, documentId, editorId }: EditorAddress): string {
  const path = [organizationId, documentId, editorId].map(encodeURIComponent).join('/')
  return `${location.origin.replace(/^http/, 'ws')}/sync/${path}`
}
