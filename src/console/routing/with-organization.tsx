import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import type { OrganizationsGetDataItem } from '../../client/api/operation-types.ts'
import { usePagedQuery } from '../api/hooks.ts'
import { sessionValues } from '../api/session-values.ts'
import { Select } from '../ui/controls.tsx'
import { OpenForm } from '../ui/form.tsx'
import { EmptyNotice, ErrorNotice, Reading } from '../ui/notice.tsx'
import { href, navigate, type Route } from './route.ts'

interface InOrganizationProps {
  /** Name of the section, which is the first part of the address. The organization is the second part. */
  readonly section: string
  readonly rest: Route
  /** Renders the page of an organization. @param rest parts of the address after the organization */
  readonly children: (organizationId: string, rest: Route) => ComponentChildren
}

/**
 * Shows a page about one organization. This is the organization in the address. If there is none, it is the
 * organization that was shown last, or the only organization.
 */
export function WithOrganization({ section, rest, children }: InOrganizationProps) {
  const [organizationId, ...further] = rest
  const listing = usePagedQuery<OrganizationsGetDataItem>('/v2/organizations/get', {})
  const { items, loading, error, more } = listing
  const isOnly = items.length === 1 && more === null
  const kept = sessionValues().organizationId ?? (isOnly ? items[0]?.id : undefined)
  useEffect(() => {
    if (organizationId === undefined && kept !== undefined) location.replace(href(section, kept))
  }, [organizationId, kept])
  if (loading) return <Reading />
  if (items.length === 0 && error === null)
    return (
      <EmptyNotice>
        No organizations yet. Documents, users and folders belong to an organization, and the first document
        creates one.{' '}
        <a class="button" href={href('documents')}>
          Create a document
        </a>
      </EmptyNotice>
    )
  return (
    <>
      <ErrorNotice error={error} />
      <Chooser section={section} current={organizationId} items={items} more={more} />
      {organizationId !== undefined && <div key={organizationId}>{children(organizationId, further)}</div>}
    </>
  )
}

interface ChooserProps {
  readonly section: string
  readonly current: string | undefined
  readonly items: readonly OrganizationsGetDataItem[]
  readonly more: (() => void) | null
}

function Chooser({ section, current, items, more }: ChooserProps) {
  const known = items.map(({ id, organizationName }) => [id, titleOf(id, organizationName)] as const)
  const isListed = current === undefined || items.some(({ id }) => id === current)
  const options = [
    ...(current === undefined ? [['', 'Choose one'] as const] : []),
    ...(isListed ? [] : [[current, current] as const]),
    ...known,
  ]
  return (
    <div class="row chooser">
      <Select
        label="Organization"
        value={current ?? ''}
        options={options}
        onChange={(id) => navigate(section, id)}
      />
      {more !== null && (
        <OpenForm label="Another organization, by id" onOpen={(id) => navigate(section, id)} />
      )}
    </div>
  )
}

const titleOf = (id: string, name: string): string => (name === '' || name === id ? id : `${name} (${id})`)
