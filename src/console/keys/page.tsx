import { useApi } from '../calls.ts'
import type { PageProps } from '../route.ts'
import { AddWorkspace } from './add-workspace.tsx'
import { Domains } from './domains.tsx'
import { Keys } from './keys.tsx'
import { Workspace } from './workspace.tsx'

export default function Page(_props: PageProps) {
  const { apiKey, workspaceId, workspaceAuthToken } = useApi().credentials
  const hasWorkspace = workspaceId !== undefined && workspaceAuthToken !== undefined
  return (
    <>
      <h1>Keys and domains</h1>
      {/* Without authentication there is one, which nobody names. */}
      {(apiKey !== undefined || !hasWorkspace) && <Domains apiKey={apiKey} />}
      {hasWorkspace ? (
        <>
          <Workspace />
          <Keys />
        </>
      ) : (
        <AddWorkspace />
      )}
    </>
  )
}
