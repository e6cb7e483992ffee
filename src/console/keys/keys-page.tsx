import { useApi } from '../api/hooks.ts'
import type { PageProps } from '../routing/route.ts'
import { AddWorkspace } from './add-workspace.tsx'
import { DomainList } from './domain-list.tsx'
import { KeyList } from './key-list.tsx'
import { WorkspaceCard } from './workspace-card.tsx'

export default function KeysPage(_props: PageProps) {
  const { apiKey, workspaceId, workspaceAuthToken } = useApi().credentials
  const hasWorkspace = workspaceId !== undefined && workspaceAuthToken !== undefined
  return (
    <>
      <h1>Keys and domains</h1>
      {/* Without authentication, the session has no API key, but the server has exactly one. */}
      {(apiKey !== undefined || !hasWorkspace) && <DomainList apiKey={apiKey} />}
      {hasWorkspace ? (
        <>
          <WorkspaceCard />
          <KeyList />
        </>
      ) : (
        <AddWorkspace />
      )}
    </>
  )
}
