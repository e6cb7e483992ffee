import { addCopyButtons } from './copy-buttons.ts'
import { showOwnAddress } from './own-address.ts'
import { startSearchBox } from './search-box.ts'
import { startTryForms } from './try-form.ts'

/** Script of the documentation pages. The pages are complete without this script. */
showOwnAddress()
addCopyButtons()
startTryForms()
startSearchBox()
