import type { ComponentChildren } from 'preact'
import { useApi } from '../api/hooks.ts'
import { href } from '../routing/route.ts'
import { Notice } from '../ui/notice.tsx'

/** What only credentials of the workspace can do, or where to get some. */
export function NeedsWorkspace({ children }: { readonly children: ComponentChildren }) {
  const { workspaceId, workspaceAuthToken } = useApi().credentials
  if (workspaceId !== undefined && workspaceAuthToken !== undefined) return <>{children}</>
  return (
    <Notice>
      This needs the credentials of the workspace, which this session does not have. Add them under{' '}
      <a href={href('keys')}>Keys and domains</a>: the first start has printed them, and they are in{' '}
      <code>credentials.json</code> of the data directory.
    </Notice>
  )
}
