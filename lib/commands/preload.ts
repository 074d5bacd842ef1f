import { COUNT_VARIABLE, FOLDER_VARIABLE } from './policy-report.ts'
import { watchProcess } from './watched-process.ts'

// `node --import` loads this into each process of an application whose policies are asked for.
const folder = process.env[FOLDER_VARIABLE]
if (folder !== undefined) watchProcess(folder, Number(process.env[COUNT_VARIABLE] ?? 0))
