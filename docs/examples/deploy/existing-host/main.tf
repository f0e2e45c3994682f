# Takes a machine that exists into a deploy, so that playbooks can follow it: `post_deploy` names the outputs host
# and host_key. Nothing is made or removed on the machine.
terraform {
  required_version = ">= 1.4"
}

variable "region" { type = string }
variable "instance_type" { type = string }
variable "image" { type = string }
variable "name" { type = string }

variable "address" {
  description = "The machine's address or DNS name."
  type        = string
  default     = "localhost"
}

variable "host_key" {
  description = "Its public host key, as \"ssh-ed25519 AAAA…\". Without one the first contact pins the key."
  type        = string
  default     = ""
}

resource "terraform_data" "host" {
  input = {
    name     = var.name
    address  = var.address
    host_key = var.host_key
  }

  # Fails the deploy when nothing has this address. The value is an argument of getent by the environment.
  provisioner "local-exec" {
    command     = "getent hosts \"$ADDRESS\" >/dev/null || { echo \"no machine has this address\" >&2; exit 1; }"
    environment = { ADDRESS = self.input.address }
  }
}

output "resource_id" {
  value = "host-${substr(sha256("${var.region}/${var.name}"), 0, 16)}"
}

output "host" {
  value = terraform_data.host.output.address
}

output "host_key" {
  value = terraform_data.host.output.host_key
}
