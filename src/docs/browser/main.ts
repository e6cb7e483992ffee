import { addCopyButtons } from './copy-buttons.ts'
import { startSearchBox } from './search-box.ts'
import { startTryForms } from './try-form.ts'

/** Script of the documentation pages. The pages are complete without this script. */
addCopyButtons()
startTryForms()
startSearchBox()
