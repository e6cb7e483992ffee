import { useState } from 'preact/hooks'
import { useAction, useApi, usePages } from '../calls.ts'
import { callForAll } from '../items.ts'
import type { AccessType } from '../rights/rights.ts'
import { href } from '../route.ts'
import { Button, Choice } from '../ui/controls.tsx'
import { counted } from '../ui/figures.ts'
import { Form } from '../ui/form.tsx'
import { Outcome } from '../ui/notice.tsx'
import { List } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { type Folder, places, root } from './tree.ts'

interface Document {
  readonly id: string
  readonly documentName: string
  readonly accessType: AccessType
  readonly lastUpdated: number
}

interface DocumentsProps {
  readonly organizationId: string
  readonly folders: readonly Folder[]
  readonly folderId: string
}

/** As many as one call moves. */
const movedMax = 500

/** The documents directly in a folder, and moving some of them. */
export function Documents({ organizationId, folders, folderId }: DocumentsProps) {
  const api = useApi()
  const listing = usePages<Document>('/v2/organizations/documents/get', { organizationId, folderId })
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [to, setTo] = useState(root)
  const toggle = (id: string, isChosen: boolean) => {
    const next = new Set(chosen)
    if (isChosen) next.add(id)
    else next.delete(id)
    setChosen(next)
  }
  const move = useAction(async () => {
    const documentIds = [...chosen].slice(0, movedMax)
    await callForAll(api, '/v2/organizations/documents/move', { organizationId, documentIds, folderId: to })
    setChosen(new Set())
    listing.reload()
    return `${counted(documentIds.length, 'document')} moved.`
  })
  return (
    <>
      <List
        caption="Documents"
        listing={listing}
        keyOf={({ id }) => id}
        empty="No documents here."
        columns={[
          {
            title: 'Move',
            cell: ({ id }) => (
              <input
                type="checkbox"
                aria-label={`Choose ${id}`}
                checked={chosen.has(id)}
                onChange={(event) => toggle(id, event.currentTarget.checked)}
              />
            ),
          },
          {
            title: 'Document',
            cell: ({ id, documentName }) => (
              <a href={href('folders', organizationId, 'd', id)}>{documentName === '' ? id : documentName}</a>
            ),
          },
          { title: 'Access', cell: ({ accessType }) => accessType },
          { title: 'Changed', cell: ({ lastUpdated }) => <Time at={lastUpdated} /> },
        ]}
      />
      {chosen.size > 0 && (
        <Form label="Move documents" inline onSubmit={() => void move.run()}>
          <Choice label="Move to" value={to} options={places(folders)} onChange={setTo} />
          <Button kind="primary" type="submit" busy={move.busy}>
            Move {counted(chosen.size, 'document')}
          </Button>
        </Form>
      )}
      <Outcome {...move} />
    </>
  )
}
