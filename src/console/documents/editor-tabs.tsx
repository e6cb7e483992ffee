import { href } from '../routing/route.ts'
import { Tabs } from '../ui/controls.tsx'
import type { EditorAddress } from './editor.ts'

const views = [
  ['document', 'Document'],
  ['structure', 'Structure'],
  ['versions', 'Versions'],
  ['branches', 'Branches'],
  ['replace', 'Replace content'],
] as const

/** Shows the links to the lists that contain a document. */
export const DocumentListLinks = ({ organizationId }: Pick<EditorAddress, 'organizationId'>) => (
  <p class="path">
    <a href={href('documents')}>Documents</a> /{' '}
    <a href={href('documents', organizationId)}>{organizationId}</a>
  </p>
)

/** Shows a link to an editor, and its address. */
export const EditorLink = ({ organizationId, documentId, editorId }: EditorAddress) => (
  <>
    <a href={href('documents', organizationId, documentId, editorId)}>{documentId}</a>
    <span class="hint">
      {organizationId}, editor {editorId}
    </span>
  </>
)

interface EditorTabsProps {
  readonly address: EditorAddress
  readonly view: string
}

/** Shows links to the views of one editor. */
export function EditorTabs({ address: { organizationId, documentId, editorId }, view }: EditorTabsProps) {
  const editor = [organizationId, documentId, editorId] as const
  const to = (name: string) =>
    name === 'connect' ? href('connect', ...editor) : href('documents', ...editor, name)
  return (
    <Tabs
      label="Views"
      current={to(view)}
      tabs={[...views, ['connect', 'Connect'] as const].map(([name, title]) => [to(name), title] as const)}
    />
  )
}
