import { href } from '../routing/route.ts'
import type { EditorAddress } from './live/live-view.ts'

const views = [
  ['live', 'Live'],
  ['authors', 'Authors'],
  ['history', 'History'],
  ['versions', 'Versions'],
  ['branches', 'Branches'],
  ['replace', 'Replace content'],
  ['schema', 'Schema'],
  ['connect', 'Connect'],
] as const

interface TabsProps {
  readonly address: EditorAddress
  readonly view: string
}

/** Shows links to the views of one editor. */
export const EditorTabs = ({ address: { organizationId, documentId, editorId }, view }: TabsProps) => (
  <nav aria-label="Views" class="tabs">
    {views.map(([name, title]) => (
      <a
        key={name}
        class="tab"
        href={
          name === 'connect'
            ? href('connect', organizationId, documentId, editorId)
            : href('documents', organizationId, documentId, editorId, name)
        }
        aria-current={name === view ? 'page' : undefined}
      >
        {title}
      </a>
    ))}
  </nav>
)
