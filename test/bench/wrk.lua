-- Sends the Authorization headers of the standard input in turn, each with the DPoP header that
-- follows it after a tab, if there is one. Counts the answers by status.

local requests = {}
local at = 0
local thread_of_load

statuses = {}

function setup(thread)
  thread_of_load = thread
end

function init()
  for line in io.lines() do
    local authorization, proof = line:match('^([^\t]*)\t?(.*)$')
    local headers = { Authorization = authorization }
    if proof ~= '' then headers.DPoP = proof end
    requests[#requests + 1] = wrk.format(nil, nil, headers)
  end
  if #requests > 0 then
    request = function()
      at = at % #requests + 1
      return requests[at]
    end
  end
end

function response(status)
  statuses[status] = (statuses[status] or 0) + 1
end

-- The last line that wrk writes.
function done(summary)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.timeout
  io.write('failed ', failed)
  for status, count in pairs(thread_of_load:get('statuses')) do
    io.write(' ', status, ' ', count)
  end
  io.write('\n')
end
