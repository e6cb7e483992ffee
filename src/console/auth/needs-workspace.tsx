import type { ComponentChildren } from 'preact'
import { useApi } from '../api/hooks.ts'
import { href } from '../routing/route.ts'
import { Notice } from '../ui/notice.tsx'

/**
 * Shows its children if the session has workspace credentials. Otherwise, shows a link to the page on which
 * the user can add them.
 */
export function NeedsWorkspace({ children }: { readonly children: ComponentChildren }) {
  const { workspaceId, workspaceAuthToken } = useApi().credentials
  if (workspaceId !== undefined && workspaceAuthToken !== undefined) return <>{children}</>
  return (
    <Notice>
      This page needs the workspace credentials, which this session does not have. Add them under{' '}
      <a href={href('keys')}>Keys and domains</a>. The first start of the server printed them, and{' '}
      <code>credentials.json</code> in the data directory contains them.
    </Notice>
  )
}
