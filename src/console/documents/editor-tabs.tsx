import { href } from '../routing/route.ts'
import { Tabs } from '../ui/controls.tsx'
import type { EditorAddress } from './editor.ts'

const views = [
  ['live', 'Live'],
  ['authors', 'Authors'],
  ['history', 'History'],
  ['versions', 'Versions'],
  ['branches', 'Branches'],
  ['replace', 'Replace content'],
] as const

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
