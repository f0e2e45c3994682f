# Makes one file a machine, beneath `folder` of the server that runs the deploy, and removes it with the machine.
# Values reach the shell by its environment and never as a part of the command: a name such as $(touch x) is text.
terraform {
  required_version = ">= 1.4"
}

variable "region" { type = string }
variable "instance_type" { type = string }
variable "image" { type = string }
variable "name" { type = string }

variable "folder" {
  description = "An absolute path; made when it is absent."
  type        = string
  default     = "/var/tmp/dashctl-machines"
  validation {
    condition     = startswith(var.folder, "/")
    error_message = "folder is an absolute path."
  }
}

variable "note" {
  description = "Written into the file. The job shows a mask in its place."
  type        = string
  default     = ""
  sensitive   = true
}

locals {
  # A file's name of a text that may hold anything.
  id = "file-${substr(sha256("${var.region}/${var.name}"), 0, 16)}"
}

resource "terraform_data" "machine" {
  input = {
    path          = "${var.folder}/${local.id}"
    name          = var.name
    region        = var.region
    instance_type = var.instance_type
    image         = var.image
  }

  provisioner "local-exec" {
    command = <<-EOT
      set -eu
      mkdir -p -- "$(dirname -- "$FILE")"
      umask 077
      printf 'name=%s\nregion=%s\nsize=%s\nimage=%s\nnote=%s\n' "$NAME" "$REGION" "$SIZE" "$IMAGE" "$NOTE" >"$FILE"
    EOT
    environment = {
      FILE   = self.input.path
      NAME   = self.input.name
      REGION = self.input.region
      SIZE   = self.input.instance_type
      IMAGE  = self.input.image
      NOTE   = var.note
    }
  }

  provisioner "local-exec" {
    when        = destroy
    command     = "rm -f -- \"$FILE\""
    environment = { FILE = self.input.path }
  }
}

output "resource_id" {
  value = local.id
}

output "path" {
  value = terraform_data.machine.output.path
}
