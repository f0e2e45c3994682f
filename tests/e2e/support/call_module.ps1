# Evaluates functions of a PowerShell module, as support/powershell.py does without a PowerShell:
#
#   pwsh -File call_module.ps1 MODULE < [{"function": NAME, "arguments": {PARAMETER: VALUE}}, ...]
param([string] $Module)
Set-StrictMode -Version 2.0
Import-Module $Module -Force
$answers = foreach ($call in @([Console]::In.ReadToEnd() | ConvertFrom-Json)) {
    $named = @{}
    foreach ($one in $call.arguments.PSObject.Properties) { $named[$one.Name] = $one.Value }
    try {
        $found = @(& $call.function @named)
        # A list stays a list, also of one item or of none, where the function converts a list.
        $value = if ($call.function -match 'Arguments$') { , $found } else { $found[0] }
        @{ value = $value }
    }
    catch { @{ thrown = $_.Exception.Message } }
}
[Console]::Out.Write((ConvertTo-Json -InputObject @($answers) -Depth 5 -Compress))
