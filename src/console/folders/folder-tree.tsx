import { useState } from 'preact/hooks'
import { href } from '../routing/route.ts'
import { type Folder, folderName, root } from './folder-names.ts'

interface BranchProps {
  readonly organizationId: string
  readonly byParent: ReadonlyMap<string, readonly Folder[]>
  readonly parent: string
  /** Id of the current folder; '' if the page shows another resource. */
  readonly current: string
  readonly open: readonly string[]
}

/** Shows the subfolders of one folder. A subfolder opens when the user clicks it. */
export function FolderBranch(props: BranchProps) {
  const folders = props.byParent.get(props.parent) ?? []
  return (
    <ul class={props.parent === root ? 'tree' : undefined}>
      {folders.map((folder) => (
        <Node key={folder.folderId} folder={folder} {...props} />
      ))}
    </ul>
  )
}

function Node({ folder, ...branch }: BranchProps & { readonly folder: Folder }) {
  const { folderId } = folder
  const [isOpen, setOpen] = useState(branch.open.includes(folderId))
  const hasFolders = branch.byParent.has(folderId)
  return (
    <li>
      <span class="node">
        {hasFolders ? (
          <button
            type="button"
            class="twist"
            aria-expanded={isOpen}
            aria-label={`Folders in ${folderName(folder)}`}
            onClick={() => setOpen(!isOpen)}
          >
            {isOpen ? '▾' : '▸'}
          </button>
        ) : (
          <span class="twist" />
        )}
        <a
          href={href('folders', branch.organizationId, 'f', folderId)}
          class={branch.current === folderId ? 'here' : undefined}
          aria-current={branch.current === folderId ? 'page' : undefined}
        >
          {folderName(folder)}
        </a>
      </span>
      {isOpen && hasFolders && <FolderBranch {...branch} parent={folderId} />}
    </li>
  )
}
